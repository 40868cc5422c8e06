package org.nemorelay.seams.carrier;

import java.util.Optional;
import java.util.function.Consumer;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.Subscription;
import org.osgi.annotation.versioning.ConsumerType;

/** A transport of subjects; what turns it into the seams is here, once for all carriers: {@link BusCarrier}. */
@ConsumerType
public interface Bus extends Broadcaster, Exchange {
    /** Where requests or units of work go, one after another. */
    @FunctionalInterface
    interface Sink {
        /** @param answer takes the answer on any thread, and drops it where nobody waits for one */
        void accept(byte[] body, Consumer<byte[]> answer);
    }

    /** A standing interest in requests or units of work. */
    @ConsumerType
    interface Intake extends Subscription {
        /** Ends the interest at the transport, without waiting. */
        void detach();
    }

    /**
     * Takes what comes for a subject from now on.
     *
     * @param group who shares it takes turns; empty for everything that comes
     * @param closeSink refuses further deliveries and waits for running ones
     * @throws org.nemorelay.seams.NoCarrierException once the carrier is closed
     */
    Intake take(String subject, Optional<String> group, Sink sink, Runnable closeSink);

    @Override
    default void post(String subject, byte[] body) {
        publish(subject, body);
    }

    @Override
    default Subscription listen(String subject, Consumer<byte[]> handler) {
        return subscribe(subject, message -> handler.accept(message.body()));
    }
}
