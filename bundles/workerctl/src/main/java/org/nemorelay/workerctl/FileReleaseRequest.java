package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Lets go of one staged key, or of all keys of one request; the request wins where both are set. */
public record FileReleaseRequest(String key, String requestId) implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static FileReleaseRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static FileReleaseRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new FileReleaseRequest(in.string("key"), in.string("request_id"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .nonEmpty("key", key)
                .nonEmpty("request_id", requestId)
                .done();
    }
}
