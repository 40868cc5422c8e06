package org.nemorelay.broker;

import java.util.Optional;

/**
 * A worker that registered and is not routable by this registration yet.
 *
 * @param dataToken what the worker must see in every request
 * @param permit what {@link Broker#publish} takes after the probe
 * @param drainDeadlineMs present when the worker is draining, which no registration revives
 */
public record StagedWorker(String generationId, String dataToken, Permit permit, Optional<Long> drainDeadlineMs) {
    /** One registration of one worker; superseded by the next one and by whatever ends the launch. */
    public record Permit(String workerId, long serial) {}

    @Override
    public String toString() {
        return "StagedWorker[" + permit.workerId() + ", " + generationId + "]";
    }
}
