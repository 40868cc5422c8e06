package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** This carrier has no place for what was asked: a verb without a subject, a seam or operation it does not implement. */
public final class NotServedException extends SeamException {
    private static final long serialVersionUID = 1L;

    public NotServedException(String message) {
        super(FailureKind.INCOMPATIBLE, message);
    }
}
