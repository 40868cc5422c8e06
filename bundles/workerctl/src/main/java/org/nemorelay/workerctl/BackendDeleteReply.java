package org.nemorelay.workerctl;

import java.util.List;

/** Answer to {@link BackendDeleteRequest}. The list of stopped processes counts only where {@code reportsStoppedProcesses} is set: an older worker sends none. */
public record BackendDeleteReply(
        boolean success, String error, List<String> stoppedProcessKeys, boolean reportsStoppedProcesses)
        implements StoppedReply {
    public BackendDeleteReply {
        stoppedProcessKeys = List.copyOf(stoppedProcessKeys);
    }

    /** The worker's refusal. */
    public static BackendDeleteReply refused(String error) {
        return new BackendDeleteReply(false, error, List.of(), false);
    }

    /** Reads the record; a key that is missing or null is its empty value, an unknown key is ignored, a wrong type is a {@link org.nemorelay.json.JsonException}. */
    public static BackendDeleteReply decode(byte[] body) {
        return StoppedReply.decode(body, BackendDeleteReply::new);
    }
}
