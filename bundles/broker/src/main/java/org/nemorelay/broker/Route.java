package org.nemorelay.broker;

import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.TokenDigest;

/** One user on one machine. All but the gate belongs to the broker's lock. */
final class Route {
    static final long NEVER = Long.MAX_VALUE;
    private static final int MAX_REMEMBERED = 32;

    final Fingerprint fingerprint;

    /** Least recently registered first. */
    final Map<TokenDigest, Binding> tokens = new LinkedHashMap<>();

    final TreeMap<String, Session> sessions = new TreeMap<>();

    /** Launches since the last success. */
    int attempts;

    /** What the generation file holds for this route. */
    Optional<Generation> durable = Optional.empty();

    State state;

    /** What requests see. */
    volatile Gate gate;

    /** When the route must be looked at again. */
    long wakeAt = NEVER;

    private final long publishedMemoryMs;
    private final LinkedHashMap<String, Long> publishedActivations = new LinkedHashMap<>();

    Route(Fingerprint fingerprint, State state, Gate gate, long publishedMemoryMs) {
        this.fingerprint = fingerprint;
        this.state = state;
        this.gate = gate;
        this.publishedMemoryMs = publishedMemoryMs;
    }

    /** The lexicographically first session whose control socket is up. */
    Optional<Session> candidate() {
        for (Session session : sessions.values()) {
            if (session.connected) {
                return Optional.of(session);
            }
        }
        return Optional.empty();
    }

    boolean evictable() {
        return sessions.isEmpty()
                && switch (state) {
                    case State.Empty _ -> true;
                    case State.PassThrough passThrough -> passThrough.permanent();
                    case State.Activating _, State.Ready _, State.Draining _, State.Recovering _ -> false;
                };
    }

    /** The worker that is routable or may become so. */
    Optional<Worker> pendingWorker() {
        return switch (state) {
            case State.Activating activating -> activating.staged;
            case State.Ready ready -> Optional.of(ready.worker());
            case State.Recovering recovering -> recovering.worker();
            case State.Empty _, State.Draining _, State.PassThrough _ -> Optional.empty();
        };
    }

    /** The worker in whatever state. */
    Optional<Worker> worker() {
        return state instanceof State.Draining draining ? Optional.of(draining.worker()) : pendingWorker();
    }

    /** The worker that status answers show. */
    Optional<Worker> assignedWorker() {
        return switch (state) {
            case State.Ready ready -> Optional.of(ready.worker());
            case State.Draining draining -> Optional.of(draining.worker());
            case State.Recovering recovering -> recovering.worker();
            case State.Empty _, State.Activating _, State.PassThrough _ -> Optional.empty();
        };
    }

    void rememberPublished(String activationId, long now) {
        publishedActivations.putLast(activationId, now);
        Iterator<Long> times = publishedActivations.values().iterator();
        while (times.hasNext()
                && (times.next() + publishedMemoryMs <= now || publishedActivations.size() > MAX_REMEMBERED)) {
            times.remove();
        }
    }

    /** Never forgotten for the worker of now: a client that was suspended in its launch asks late, and would end it. */
    boolean wasPublished(String activationId, long now) {
        Long at = publishedActivations.get(activationId);
        return at != null && now < at + publishedMemoryMs
                || assignedWorker().flatMap(worker -> worker.activationId).equals(Optional.of(activationId));
    }
}
