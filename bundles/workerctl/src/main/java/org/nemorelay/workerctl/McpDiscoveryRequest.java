package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Asks an agent worker what the MCP servers of a model offer. */
public record McpDiscoveryRequest(String modelName, Map<String, Object> remoteServers, Map<String, Object> stdioServers)
        implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static McpDiscoveryRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static McpDiscoveryRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new McpDiscoveryRequest(
                in.string("model_name"), in.object("remote_servers"), in.object("stdio_servers"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("model_name", modelName)
                .put("remote_servers", remoteServers)
                .put("stdio_servers", stdioServers)
                .done();
    }
}
