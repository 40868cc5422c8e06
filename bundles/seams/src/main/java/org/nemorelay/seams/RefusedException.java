package org.nemorelay.seams;

import org.nemorelay.protocol.FailureKind;

/** The peer answered, and its answer is no. The peer is present. */
public final class RefusedException extends SeamException {
    private static final long serialVersionUID = 1L;

    private final String code;

    public RefusedException(String message) {
        this("", message);
    }

    /** @param code the peer's own word for the reason, such as {@code UNIMPLEMENTED} */
    public RefusedException(String code, String message) {
        super(FailureKind.UPSTREAM, message);
        this.code = code;
    }

    /** The peer's own word for the reason; empty when it gave none. */
    public String code() {
        return code;
    }
}
