package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Runs one MCP tool at an agent worker (distributed-seams 6). The server tables are those of the model's configuration, passed through. */
public record McpToolRequest(
        String modelName,
        String toolName,
        Map<String, Object> arguments,
        Map<String, Object> remoteServers,
        Map<String, Object> stdioServers)
        implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static McpToolRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static McpToolRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new McpToolRequest(
                in.string("model_name"),
                in.string("tool_name"),
                in.object("arguments"),
                in.object("remote_servers"),
                in.object("stdio_servers"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("model_name", modelName)
                .put("tool_name", toolName)
                .nonEmpty("arguments", arguments)
                .put("remote_servers", remoteServers)
                .put("stdio_servers", stdioServers)
                .done();
    }
}
