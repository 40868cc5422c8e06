package org.nemorelay.workerctl;

import java.util.List;

/** Answer to {@link BackendStopRequest}. The list of stopped processes counts only where {@code reportsStoppedProcesses} is set: an older worker sends none. */
public record BackendStopReply(
        boolean success, String error, List<String> stoppedProcessKeys, boolean reportsStoppedProcesses)
        implements StoppedReply {
    public BackendStopReply {
        stoppedProcessKeys = List.copyOf(stoppedProcessKeys);
    }

    /** The worker's refusal. */
    public static BackendStopReply refused(String error) {
        return new BackendStopReply(false, error, List.of(), true);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static BackendStopReply decode(byte[] body) {
        return StoppedReply.decode(body, BackendStopReply::new);
    }
}
