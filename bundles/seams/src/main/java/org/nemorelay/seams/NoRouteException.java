package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** A routing fact: nobody listens for this subject or node right now, and the carrier knows it. Only a carrier makes it, in one place, without the transport's own error as cause; never from a time-out, a refused connection or a refusal. It changes a node's status at most, never its rows. */
public final class NoRouteException extends SeamException {
    private static final long serialVersionUID = 1L;

    public NoRouteException(String message) {
        super(FailureKind.UNAVAILABLE, message);
    }
}
