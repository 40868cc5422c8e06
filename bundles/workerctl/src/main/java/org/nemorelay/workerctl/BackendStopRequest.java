package org.nemorelay.workerctl;

import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Asks a worker to stop processes: by backend name, model name or exact {@code modelID#replica}; empty means all of them. {@code force} skips the polite way. */
public record BackendStopRequest(String backend, boolean force) implements WireRecord {
    /** As {@link #decode}, but no body at all is the request to stop everything, as the first frontends sent it. */
    public static BackendStopRequest decodeOrAll(byte[] body) {
        return body.length == 0 ? new BackendStopRequest("", false) : decode(body);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static BackendStopRequest decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static BackendStopRequest fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new BackendStopRequest(in.string("backend"), in.bool("force"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("backend", backend)
                .nonEmpty("force", force)
                .done();
    }
}
