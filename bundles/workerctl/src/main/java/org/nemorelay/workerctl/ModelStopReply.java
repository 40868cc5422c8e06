package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Answer to {@link ModelStopRequest}; {@code terminated} only once the process is dead. */
public record ModelStopReply(
        boolean matched, boolean freed, boolean terminated, String processKey, String address, String error)
        implements WireRecord {
    /** The worker's refusal. */
    public static ModelStopReply refused(String error) {
        return new ModelStopReply(false, false, false, "", "", error);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static ModelStopReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static ModelStopReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new ModelStopReply(
                in.bool("matched"),
                in.bool("freed"),
                in.bool("terminated"),
                in.string("process_key"),
                in.string("address"),
                in.string("error"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("matched", matched)
                .put("freed", freed)
                .put("terminated", terminated)
                .put("process_key", processKey)
                .nonEmpty("address", address)
                .nonEmpty("error", error)
                .done();
    }
}
