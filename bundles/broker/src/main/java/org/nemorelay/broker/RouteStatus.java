package org.nemorelay.broker;

import java.util.Optional;
import org.nemorelay.protocol.Fingerprint;

/**
 * What one route is right now, without secrets or addresses.
 *
 * @param references sessions that hold the route
 * @param connected those of them whose control socket is up
 */
public record RouteStatus(
        Fingerprint fingerprint,
        RouteState state,
        int tokens,
        int references,
        int connected,
        Optional<WorkerStatus> worker) {

    /** What one worker is right now (relay-daemon 2). */
    public record WorkerStatus(
            String workerId, RouteState state, int referenceCount, boolean controlAvailable, int inFlight) {}
}
