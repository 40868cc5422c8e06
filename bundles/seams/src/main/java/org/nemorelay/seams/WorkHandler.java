package org.nemorelay.seams;

import org.osgi.annotation.versioning.ConsumerType;

/** Does one unit of work. Must bear repeats: nothing is delivered twice on purpose, and nothing guarantees it. */
@ConsumerType
@FunctionalInterface
public interface WorkHandler {
    /**
     * Returns when the work ran, whatever its outcome: that is on {@code events}, the delivery's own publisher and the
     * only one that its events go through. A checked exception, a {@link SeamException} or a
     * {@code RelayException} says that this unit could not be served: it is logged, the unit is not redelivered. Anything
     * else is a fault of the program, see {@link WorkConsumer}.
     */
    void handle(Context context, byte[] payload, Publisher events) throws Exception;
}
