package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Asks for the files under a key prefix. */
public record FileListDirRequest(String keyPrefix) implements WireRecord {
    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static FileListDirRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static FileListDirRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new FileListDirRequest(in.string("key_prefix"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter().put("key_prefix", keyPrefix).done();
    }
}
