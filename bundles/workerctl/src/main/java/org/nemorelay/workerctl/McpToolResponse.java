package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** What the tool said, or an error; both are the worker's own answer. */
public record McpToolResponse(String result, String error) implements WireRecord {
    /** The worker's refusal. */
    public static McpToolResponse refused(String error) {
        return new McpToolResponse("", error);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static McpToolResponse decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static McpToolResponse fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new McpToolResponse(in.string("result"), in.string("error"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .nonEmpty("result", result)
                .nonEmpty("error", error)
                .done();
    }
}
