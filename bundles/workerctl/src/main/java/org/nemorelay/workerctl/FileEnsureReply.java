package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** The path at the worker, or an error. */
public record FileEnsureReply(String localPath, String error) implements WireRecord {
    /** The worker's refusal. */
    public static FileEnsureReply refused(String error) {
        return new FileEnsureReply("", error);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static FileEnsureReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static FileEnsureReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new FileEnsureReply(in.string("local_path"), in.string("error"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .nonEmpty("local_path", localPath)
                .nonEmpty("error", error)
                .done();
    }
}
