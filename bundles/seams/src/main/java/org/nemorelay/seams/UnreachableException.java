package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** The peer could not be reached, or did not answer in time. Not a verdict about the worker: the call failed, and nothing else. */
public sealed class UnreachableException extends SeamException permits TimedOutException {
    private static final long serialVersionUID = 1L;

    public UnreachableException(String message) {
        this(FailureKind.UPSTREAM, message);
    }

    UnreachableException(FailureKind kind, String message) {
        super(kind, message);
    }
}
