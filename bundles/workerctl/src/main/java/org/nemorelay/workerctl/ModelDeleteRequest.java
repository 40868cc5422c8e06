package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Removes a model's files from a worker. */
public record ModelDeleteRequest(String modelName) implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static ModelDeleteRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static ModelDeleteRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new ModelDeleteRequest(in.string("model_name"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter().put("model_name", modelName).done();
    }
}
