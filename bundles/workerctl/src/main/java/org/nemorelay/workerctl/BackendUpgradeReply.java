package org.nemorelay.workerctl;

import java.util.List;
import java.util.Map;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.workerctl.internal.FieldReader;
import org.nemorelay.workerctl.internal.FieldWriter;

/** Answer to {@link BackendUpgradeRequest}. The list of stopped processes counts only where {@code reportsStoppedProcesses} is set: an older worker sends none. */
public record BackendUpgradeReply(
        boolean success, String error, List<String> stoppedProcessKeys, boolean reportsStoppedProcesses)
        implements WireRecord {
    public BackendUpgradeReply {
        stoppedProcessKeys = List.copyOf(stoppedProcessKeys);
    }

    /** The worker's refusal. */
    public static BackendUpgradeReply refused(String error) {
        return new BackendUpgradeReply(false, error, List.of(), false);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static BackendUpgradeReply decode(byte[] body) {
        return fromJson(Json.parseObject(body));
    }

    static BackendUpgradeReply fromJson(JsonObject object) {
        FieldReader in = new FieldReader(object);
        return new BackendUpgradeReply(
                in.bool("success"),
                in.string("error"),
                in.strings("stopped_process_keys"),
                in.bool("reports_stopped_processes"));
    }

    @Override
    public Map<String, Object> toJson() {
        return new FieldWriter()
                .put("success", success)
                .nonEmpty("error", error)
                .strings("stopped_process_keys", stoppedProcessKeys)
                .nonEmpty("reports_stopped_processes", reportsStoppedProcesses)
                .done();
    }
}
