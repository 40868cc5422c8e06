package org.nemorelay.workerctl;

import java.util.List;

/** Answer to {@link BackendUpgradeRequest}. The list of stopped processes counts only where {@code reportsStoppedProcesses} is set: an older worker sends none. */
public record BackendUpgradeReply(
        boolean success, String error, List<String> stoppedProcessKeys, boolean reportsStoppedProcesses)
        implements StoppedReply {
    public BackendUpgradeReply {
        stoppedProcessKeys = List.copyOf(stoppedProcessKeys);
    }

    /** The worker's refusal. */
    public static BackendUpgradeReply refused(String error) {
        return new BackendUpgradeReply(false, error, List.of(), false);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static BackendUpgradeReply decode(byte[] body) {
        return StoppedReply.decode(body, BackendUpgradeReply::new);
    }
}
