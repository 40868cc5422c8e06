package org.nemorelay.protocol;

/**
 * A failure with a category. The message is one line that says what failed, where, and what to do; it may reach users,
 * logs and error bodies, so it never holds a secret.
 */
public final class RelayException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final FailureKind kind;

    public RelayException(FailureKind kind, String message) {
        super(message);
        this.kind = kind;
    }

    public RelayException(FailureKind kind, String message, Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    public FailureKind kind() {
        return kind;
    }
}
