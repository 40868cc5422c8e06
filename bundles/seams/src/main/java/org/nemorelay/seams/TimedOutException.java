package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** No answer within the call's own bound. Whether the peer did the work is not known. */
public sealed class TimedOutException extends UnreachableException permits StillInstallingException {
    private static final long serialVersionUID = 1L;

    public TimedOutException(String message) {
        super(FailureKind.TIMEOUT, message);
    }
}
