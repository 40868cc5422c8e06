package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Asks a worker to put one of its files into the store. */
public record FileStageRequest(String localPath, String key) implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static FileStageRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static FileStageRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new FileStageRequest(in.string("local_path"), in.string("key"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter().put("local_path", localPath).put("key", key).done();
    }
}
