package org.nemorelay.carrier.local.internal;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkHandler;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.WorkDelivery;
import org.nemorelay.seams.carrier.WorkRoutes;

/** Queues on the bus. Unlike a network's, they heed the producer's context: a cancelled one enqueues nothing. */
final class LocalQueues implements WorkQueue, WorkConsumer {
    private final LocalBus bus;
    private final WorkRoutes routes;
    private final Faults faults;
    private final AtomicLong numbers = new AtomicLong();

    LocalQueues(LocalBus bus, WorkRoutes routes, Faults faults) {
        this.bus = bus;
        this.routes = routes;
        this.faults = faults;
    }

    @Override
    public void enqueue(Context context, WorkKind kind, byte[] payload) {
        String subject = WorkRoutes.standard().of(kind).subject();
        context.check("enqueue of " + kind.word());
        bus.publish(subject, payload);
    }

    @Override
    public void flush(Duration bound) {
        bus.flush(bound);
    }

    @Override
    public Subscription consume(Context context, WorkKind kind, int maxInFlight, WorkHandler handler) {
        WorkRoutes.Route route = routes.of(kind);
        AtomicReference<LocalSubscription> own = new AtomicReference<>();
        WorkDelivery delivery = new WorkDelivery(
                "consumer of " + kind.word(),
                context,
                maxInFlight,
                handler,
                bus,
                faults,
                () -> own.get().detach());
        own.set(bus.attach(
                route.subject(),
                route.group(),
                unit -> delivery.deliver(
                        unit.message().body(), route.subject() + " number " + numbers.incrementAndGet()),
                delivery::close));
        return own.get();
    }
}
