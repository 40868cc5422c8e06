package org.nemorelay.broker;

import org.nemorelay.protocol.FailureKind;

/** Why the broker did not do what a peer asked; {@link #kind()} carries the status of relay-daemon 3.9. */
public enum Refusal {
    TOKEN_BOUND_ELSEWHERE(FailureKind.CREDENTIAL_REJECTED, "the client token belongs to another identity"),
    TOKEN_LIMIT(FailureKind.CREDENTIAL_REJECTED, "every client token that this identity may hold is in use"),
    SESSION_BOUND_ELSEWHERE(FailureKind.UNAUTHORIZED, "the session belongs to another identity, token or network"),
    UNKNOWN_SESSION(FailureKind.NOT_FOUND, "the session is not registered"),
    UNKNOWN_ROUTE(FailureKind.NOT_FOUND, "no session of this identity is registered"),
    UNKNOWN_WORKER(FailureKind.NOT_FOUND, "the worker is not registered"),
    ROUTE_CAPACITY(FailureKind.LIMIT_REACHED, "the daemon holds as many routes as it may"),
    REFERENCE_CAPACITY(FailureKind.LIMIT_REACHED, "the route holds as many sessions as it may"),
    SESSION_CAPACITY(FailureKind.LIMIT_REACHED, "the daemon holds as many sessions as it may"),
    WORKER_ID_TAKEN(FailureKind.LIMIT_REACHED, "the worker id is in use"),
    GRANT_INVALID(FailureKind.UNAUTHORIZED, "the launch grant is unknown, revoked or used by another worker"),
    GENERATION_REVOKED(FailureKind.UNAUTHORIZED, "the worker's generation is not the current one"),
    ENDPOINT_NOT_GRANTED(FailureKind.INVALID_ARGUMENT, "the worker's endpoint is not what its grant allows"),
    NOT_LAUNCH_OWNER(FailureKind.CONFLICT, "another session owns the launch"),
    NO_REFERENCES(FailureKind.CONFLICT, "the route has no session"),
    DRAINING(FailureKind.CONFLICT, "the worker is draining"),
    WRONG_STATE(FailureKind.CONFLICT, "the route's state does not allow it"),
    SUPERSEDED(FailureKind.CONFLICT, "the route moved on in the meantime");

    private final FailureKind kind;
    private final String message;

    Refusal(FailureKind kind, String message) {
        this.kind = kind;
        this.message = message;
    }

    public FailureKind kind() {
        return kind;
    }

    /** One line for the peer; no peer parses it. */
    public String message() {
        return message;
    }
}
