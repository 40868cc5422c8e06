package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** The caller's context was cancelled before the call was done. */
public final class CancelledException extends SeamException {
    private static final long serialVersionUID = 1L;

    public CancelledException(String message) {
        super(FailureKind.UNAVAILABLE, message);
    }
}
