package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldWriter;

/** The request of a verb whose body is ignored: an empty object. */
public record NoArguments() implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static NoArguments decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static NoArguments fromJson(JsonObject object) {
        return new NoArguments();
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter().done();
    }
}
