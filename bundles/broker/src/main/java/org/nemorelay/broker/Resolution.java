package org.nemorelay.broker;

/** Where one request goes; fixed when it starts (relay-daemon 6.1). */
public sealed interface Resolution permits WorkerLease, Resolution.PassThrough, Resolution.Unavailable {
    /** Why a request does not go to a worker. */
    enum Reason {
        GLOBAL_PASS_THROUGH,
        UNBOUND,
        NO_SESSION,
        EMPTY,
        ACTIVATING,
        CONTROL_UNAVAILABLE,
        DRAINING,
        FAILED,
        RECOVERING
    }

    /**
     * The request goes to its provider.
     *
     * @param bound whether the token has a live session, so that the daemon's own provider credentials may be used
     */
    record PassThrough(boolean bound, Reason reason) implements Resolution {}

    /** The daemon requires a worker and there is none. */
    record Unavailable(Reason reason) implements Resolution {}
}
