package org.nemorelay.seams;

import org.osgi.annotation.versioning.ProviderType;

/**
 * The worker's half of the queues (distributed-seams 3.2). Each unit goes to one consumer of its kind. Two concurrency
 * models stand side by side on purpose; {@code QueueConformance} pins both.
 */
@ProviderType
public interface WorkConsumer {
    /**
     * Starts consuming; the consumption is confirmed when this returns.
     *
     * <ul>
     *   <li>{@code maxInFlight} 1: the handler runs on the delivery thread, strictly one after the other. A fault of the
     *       program closes the consumer, is reported once with the delivery's identity, and ends the process.
     *   <li>Any other value: a thread per delivery; a fault is caught, counted and logged, and the consumer goes on. From 2
     *       on the slot is taken on the delivery thread, so a full consumer takes nothing more; cancelling
     *       {@code context} releases a delivery that waits for a slot, and drops it. 0 and less is unbounded.
     * </ul>
     *
     * @param context reaches every handler; cancelling it does not end the consumption
     */
    Subscription consume(Context context, WorkKind kind, int maxInFlight, WorkHandler handler);
}
