package org.nemorelay.seams;

import org.osgi.annotation.versioning.ProviderType;

/** A standing subscription or consumer. Its handler must not end it: that would wait for itself. */
@ProviderType
public interface Subscription {
    /**
     * Stops deliveries of this subscription alone, then waits for running handlers; what has arrived and not been
     * handed over is dropped. Twice is once.
     *
     * @throws IllegalStateException when called by its own handler
     */
    void unsubscribe();

    /** As {@link #unsubscribe}, but what has arrived is still handed over first. */
    void drain();
}
