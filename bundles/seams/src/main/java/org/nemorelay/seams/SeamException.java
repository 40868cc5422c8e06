package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/**
 * Every way in which a call through a seam fails on purpose. The set is closed, so that a caller's {@code switch} is
 * complete.
 *
 * <p>Four of them are conditions that are never reported as each other (seed, "Four conditions"): {@link NoRouteException},
 * {@link AbsentException}, {@link UnreachableException}, and the peer's own answer, which is a reply, or
 * {@link RefusedException} where an operation has no reply to carry it. None is a subtype of another and no code turns
 * one into another.
 */
public abstract sealed class SeamException extends RuntimeException
        permits NoRouteException,
                AbsentException,
                UnreachableException,
                RefusedException,
                NoCarrierException,
                SubjectException,
                PayloadTooLargeException,
                NotServedException,
                NoDialerException,
                PermissionDeniedException,
                CancelledException,
                StagingException {
    private static final long serialVersionUID = 1L;

    private final FailureKind kind;

    SeamException(FailureKind kind, String message) {
        super(message);
        this.kind = kind;
    }

    /** The category for logs, metrics and error bodies. */
    public FailureKind kind() {
        return kind;
    }
}
