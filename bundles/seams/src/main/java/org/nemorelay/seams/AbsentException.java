package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** This process's own link is down and within its reconnect grace. Nothing acts on it: it says nothing about any node. */
public final class AbsentException extends SeamException {
    private static final long serialVersionUID = 1L;

    public AbsentException(String message) {
        super(FailureKind.UNAVAILABLE, message);
    }
}
