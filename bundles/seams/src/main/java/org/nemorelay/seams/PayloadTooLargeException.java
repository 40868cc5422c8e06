package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** More bytes, headers counted, than the carrier takes. Nothing was sent and other traffic is not affected. */
public final class PayloadTooLargeException extends SeamException {
    private static final long serialVersionUID = 1L;

    public PayloadTooLargeException(String message) {
        super(FailureKind.PAYLOAD_TOO_LARGE, message);
    }
}
