package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** A file could not be moved. An ordinary error, never a routing fact. */
public final class StagingException extends SeamException {
    private static final long serialVersionUID = 1L;

    public StagingException(String message) {
        super(FailureKind.UPSTREAM, message);
    }
}
