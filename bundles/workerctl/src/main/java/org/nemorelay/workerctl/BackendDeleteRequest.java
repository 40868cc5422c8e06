package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Asks a worker to remove a backend; the name is a backend, never a model. */
public record BackendDeleteRequest(String backend) implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static BackendDeleteRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static BackendDeleteRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new BackendDeleteRequest(in.string("backend"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter().put("backend", backend).done();
    }
}
