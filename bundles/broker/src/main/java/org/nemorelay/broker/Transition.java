package org.nemorelay.broker;

import java.util.Optional;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.Fingerprint;

/**
 * Something that happened in the broker, as a value: the daemon turns it into frames, state writes and log events.
 * Deadlines are on the clock that the caller passes in.
 */
public sealed interface Transition {
    /** The route is in another state now. */
    record RouteChanged(Fingerprint fingerprint, RouteState from, RouteState to) implements Transition {}

    /** A session holds a reference now. */
    record McpAdded(Fingerprint fingerprint, String sessionId, Directive directive) implements Transition {}

    /** A session's reference is gone. */
    record McpRemoved(Fingerprint fingerprint, String sessionId, Cause cause, RouteAction action)
            implements Transition {
        /** Why. */
        public enum Cause {
            RELEASED,
            CONTROL_DISCONNECT_TIMEOUT
        }

        /** What the removal did to the route. */
        public enum RouteAction {
            ROUTE_RETAINED,
            CANCEL_ACTIVATION,
            BEGIN_WORKER_DRAIN
        }
    }

    /** A connected session must be told this. */
    record DirectiveChanged(String sessionId, Directive directive) implements Transition {}

    /** A session that waited was chosen to start a worker; its directive follows. A session that registers is told in its answer. */
    record LaunchNominated(Fingerprint fingerprint, String sessionId, String activationId, int attempt)
            implements Transition {}

    /** A launch grant was withdrawn; a worker staged with it is released. */
    record ActivationCancelled(Fingerprint fingerprint, String activationId, Optional<String> stagedWorkerId)
            implements Transition {}

    /** A launch failed; a worker staged with it is released. */
    record ActivationFailed(
            Fingerprint fingerprint,
            String activationId,
            String reason,
            long retryAfterMs,
            Optional<String> stagedWorkerId)
            implements Transition {}

    /** A launch has no result yet; once per minute. */
    record StartupPending(Fingerprint fingerprint, long elapsedMs) implements Transition {}

    /** A worker registered and waits for its readiness. */
    record WorkerStaged(Fingerprint fingerprint, String workerId, String endpoint, Publication publication)
            implements Transition {}

    /** A worker serves the route from now on. */
    record WorkerPublished(
            Fingerprint fingerprint,
            String workerId,
            String endpoint,
            Generation generation,
            Publication publication,
            Optional<Long> startupElapsedMs)
            implements Transition {}

    /** The data plane of a worker failed: no request goes to it until it has recovered, and its socket must be closed. */
    record CommunicationFailed(Fingerprint fingerprint, String workerId) implements Transition {}

    /** A published worker did not come back in its grace: its generation is void. */
    record WorkerLost(Fingerprint fingerprint, String workerId, String generationId) implements Transition {}

    /**
     * A worker is sent no request any more and must be told to drain, when the record on disk says that it drains and until
     * when: neither this daemon nor a later one takes it back, and both wait for its exit. One that leaves knows; it is told
     * with {@link LeaveGranted}.
     */
    record DrainBegan(
            Fingerprint fingerprint,
            String workerId,
            String generationId,
            String endpoint,
            long deadlineMs,
            int inFlight,
            Cause cause)
            implements Transition {
        /** Why. */
        public enum Cause {
            LAST_SESSION_LEFT,
            WORKER_LEAVES
        }
    }

    /** Nothing is under way any more to a worker that leaves, and nothing will be: it must be told that it may end. */
    record LeaveGranted(Fingerprint fingerprint, String workerId) implements Transition {}

    /** A drained worker is gone. */
    record WorkerRemoved(Fingerprint fingerprint, String workerId, String generationId, Reason reason)
            implements Transition {
        /** Why. */
        public enum Reason {
            DRAINED,
            DRAIN_DEADLINE_REACHED
        }
    }

    /** A generation from before the restart was not recovered in time or was refused: it is void, and a worker staged with it is released. */
    record RecoveryExpired(Fingerprint fingerprint, String generationId, Optional<String> stagedWorkerId)
            implements Transition {}

    /** A token was released to make room for another one of the same identity. */
    record TokenReleased(Fingerprint fingerprint) implements Transition {}

    /** An unused route made room for another one; its tokens may bind elsewhere. */
    record RouteEvicted(Fingerprint fingerprint) implements Transition {}
}
