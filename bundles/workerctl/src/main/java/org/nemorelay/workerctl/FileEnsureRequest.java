package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Asks a worker to fetch a key of the store into its own files. */
public record FileEnsureRequest(String key) implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static FileEnsureRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static FileEnsureRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new FileEnsureRequest(in.string("key"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter().put("key", key).done();
    }
}
