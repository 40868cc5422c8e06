package org.nemorelay.carrier.nats.internal;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Publisher;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkHandler;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.WorkDelivery;
import org.nemorelay.seams.carrier.WorkRoutes;

/** Queues as NATS queue groups. The producer's context is ignored, as ever on NATS. */
final class NatsQueues implements WorkQueue, WorkConsumer {
    private final NatsLink link;
    private final Publisher events;
    private final WorkRoutes routes;
    private final Faults faults;
    private final AtomicLong numbers = new AtomicLong();

    NatsQueues(NatsLink link, Publisher events, WorkRoutes routes, Faults faults) {
        this.link = link;
        this.events = events;
        this.routes = routes;
        this.faults = faults;
    }

    @Override
    public void enqueue(Context context, WorkKind kind, byte[] payload) {
        link.publish(WorkRoutes.standard().of(kind).subject(), Optional.empty(), payload);
    }

    @Override
    public void flush(Duration bound) {
        link.flush(bound);
    }

    @Override
    public Subscription consume(Context context, WorkKind kind, int maxInFlight, WorkHandler handler) {
        WorkRoutes.Route route = routes.of(kind);
        AtomicReference<Runnable> stop = new AtomicReference<>(() -> {});
        WorkDelivery delivery = new WorkDelivery(
                "consumer of " + kind.word(),
                context,
                maxInFlight,
                handler,
                events,
                faults,
                () -> stop.get().run());
        NatsSubscription subscription = link.subscribe(
                route.subject(),
                route.group(),
                unit -> delivery.deliver(unit.getData(), route.subject() + " number " + numbers.incrementAndGet()),
                delivery::close);
        stop.set(subscription::detach);
        return subscription;
    }
}
