package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Answer to {@link ModelDeleteRequest}. */
public record ModelDeleteReply(boolean success, String error) implements WireRecord {
    /** The worker's refusal. */
    public static ModelDeleteReply refused(String error) {
        return new ModelDeleteReply(false, error);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static ModelDeleteReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static ModelDeleteReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new ModelDeleteReply(in.bool("success"), in.string("error"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("success", success)
                .nonEmpty("error", error)
                .done();
    }
}
