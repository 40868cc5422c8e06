package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** The transport denies this process the subject. */
public final class PermissionDeniedException extends SeamException {
    private static final long serialVersionUID = 1L;

    public PermissionDeniedException(String message) {
        super(FailureKind.UNAUTHORIZED, message);
    }
}
