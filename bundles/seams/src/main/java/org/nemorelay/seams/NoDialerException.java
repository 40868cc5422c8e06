package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** There is no dialer for this node. An ordinary error: it is no routing fact and no verdict about the node. */
public final class NoDialerException extends SeamException {
    private static final long serialVersionUID = 1L;

    public NoDialerException(String message) {
        super(FailureKind.NOT_FOUND, message);
    }
}
