package org.nemorelay.workerctl;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** The backends that a worker has; no backends are {@code null} on the wire. */
public record BackendListReply(List<NodeBackendInfo> backends, String error) implements WireRecord {
    public BackendListReply {
        backends = List.copyOf(backends);
    }

    /** The worker's refusal. */
    public static BackendListReply refused(String error) {
        return new BackendListReply(List.of(), error);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static BackendListReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static BackendListReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new BackendListReply(in.records("backends", NodeBackendInfo::fromJson), in.string("error"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .recordsOrNull("backends", backends)
                .nonEmpty("error", error)
                .done();
    }
}
