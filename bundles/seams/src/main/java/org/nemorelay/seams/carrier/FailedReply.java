package org.nemorelay.seams.carrier;

import java.util.Map;
import org.nemorelay.workerctl.WireRecord;

/** The answer of a handler that failed: only {@code error}, which every reply of a verb reads as its refusal. */
record FailedReply(String error) implements WireRecord {
    FailedReply() {
        this("internal error");
    }

    @Override
    public Map<String, Object> toJson() {
        return Map.of("error", error);
    }
}
