package org.nemorelay.broker;

import java.util.Optional;
import java.util.OptionalLong;
import org.nemorelay.protocol.Fingerprint;

/**
 * What one route is right now, without secrets or addresses.
 *
 * @param references sessions that hold the route
 * @param connected those of them whose control socket is up
 * @param until how long what it waits for is waited for at most, on the clock of the broker's caller: a worker that is to come
 *     back, or to end
 */
public record RouteStatus(
        Fingerprint fingerprint,
        RouteState state,
        int tokens,
        int references,
        int connected,
        Optional<WorkerStatus> worker,
        OptionalLong until) {

    /** The state in an operator's eyes: a worker that is not routable is not ready, though its place is kept. */
    public String word() {
        return state == RouteState.READY
                        && worker.filter(WorkerStatus::controlAvailable).isEmpty()
                ? "reconnecting"
                : state.word();
    }

    /** What one worker is right now (relay-daemon 2). */
    public record WorkerStatus(
            String workerId, RouteState state, int referenceCount, boolean controlAvailable, int inFlight) {}
}
