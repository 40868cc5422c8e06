package org.nemorelay.protocol;

/** The closed list of failure categories used in logs, metrics and error bodies. */
public enum FailureKind {
    INVALID_ARGUMENT(400),
    CONFIGURATION(500),
    STATE(500),
    /** A listener or process that a role needs could not be started. */
    LAUNCH(500),
    UNAUTHORIZED(401),
    CREDENTIAL_REJECTED(401),
    GUARDRAIL_REJECTED(403),
    NOT_FOUND(404),
    CONFLICT(409),
    PAYLOAD_TOO_LARGE(413),
    INVALID_PAYLOAD(400),
    INCOMPATIBLE(426),
    LIMIT_REACHED(429),
    INTERNAL(500),
    UPSTREAM(502),
    UNAVAILABLE(503),
    TIMEOUT(504),
    PLUGIN(500);

    private final int status;

    FailureKind(int status) {
        this.status = status;
    }

    /** The HTTP status that a peer sees for this kind. */
    public int status() {
        return status;
    }

    /** The snake_case word that stands in logs and metrics. */
    public String word() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }
}
