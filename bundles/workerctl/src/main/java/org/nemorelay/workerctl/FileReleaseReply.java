package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Empty on success. */
public record FileReleaseReply(String error) implements WireRecord {
    /** The worker's refusal. */
    public static FileReleaseReply refused(String error) {
        return new FileReleaseReply(error);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static FileReleaseReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static FileReleaseReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new FileReleaseReply(in.string("error"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter().nonEmpty("error", error).done();
    }
}
