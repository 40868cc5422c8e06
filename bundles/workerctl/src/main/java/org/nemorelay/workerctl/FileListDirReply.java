package org.nemorelay.workerctl;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** The files under a prefix; an empty folder is an empty object. */
public record FileListDirReply(List<String> files, String error) implements WireRecord {
    public FileListDirReply {
        files = List.copyOf(files);
    }

    /** The worker's refusal. */
    public static FileListDirReply refused(String error) {
        return new FileListDirReply(List.of(), error);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static FileListDirReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static FileListDirReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new FileListDirReply(in.strings("files"), in.string("error"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .strings("files", files)
                .nonEmpty("error", error)
                .done();
    }
}
