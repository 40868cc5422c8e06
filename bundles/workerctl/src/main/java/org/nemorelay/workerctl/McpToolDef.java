package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** One tool with its function schema. */
public record McpToolDef(String serverName, String toolName, Map<String, Object> function) implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static McpToolDef decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static McpToolDef fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new McpToolDef(in.string("server_name"), in.string("tool_name"), in.object("function"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("server_name", serverName)
                .put("tool_name", toolName)
                .put("function", function)
                .done();
    }
}
