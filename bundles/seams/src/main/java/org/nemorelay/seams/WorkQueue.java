package org.nemorelay.seams;

import java.time.Duration;
import org.osgi.annotation.versioning.ProviderType;

/** The producer's half of the queues (distributed-seams 3). Safe for any thread. Pinned by {@code QueueConformance}. */
@ProviderType
public interface WorkQueue {
    /**
     * Returns when the carrier has accepted the payload, which says nothing about a consumer. A carrier may ignore the
     * context altogether.
     *
     * @throws PayloadTooLargeException when the carrier does not take as much
     * @throws AbsentException when the link is down
     */
    void enqueue(Context context, WorkKind kind, byte[] payload);

    /** Returns when the transport has taken everything that was accepted before; {@link TimedOutException} otherwise. */
    void flush(Duration bound);
}
