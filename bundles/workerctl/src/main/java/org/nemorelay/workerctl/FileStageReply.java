package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** The key in the store, or an error. */
public record FileStageReply(String key, String error) implements WireRecord {
    /** The worker's refusal. */
    public static FileStageReply refused(String error) {
        return new FileStageReply("", error);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static FileStageReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static FileStageReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new FileStageReply(in.string("key"), in.string("error"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter().nonEmpty("key", key).nonEmpty("error", error).done();
    }
}
