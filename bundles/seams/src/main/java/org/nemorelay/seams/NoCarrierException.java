package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** No carrier serves this seam in this process now. Thrown at once; the call was not sent. */
public final class NoCarrierException extends SeamException {
    private static final long serialVersionUID = 1L;

    public NoCarrierException(String message) {
        super(FailureKind.UNAVAILABLE, message);
    }
}
