package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** The path of a fresh temporary file at the worker, or an error. */
public record FileTempReply(String localPath, String error) implements WireRecord {
    /** The worker's refusal. */
    public static FileTempReply refused(String error) {
        return new FileTempReply("", error);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static FileTempReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static FileTempReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new FileTempReply(in.string("local_path"), in.string("error"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .nonEmpty("local_path", localPath)
                .nonEmpty("error", error)
                .done();
    }
}
