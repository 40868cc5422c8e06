package org.nemorelay.seams.carrier;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkHandler;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.WorkQueue;

/** Queues as groups of a {@link Bus}. The producer's context is ignored, as ever on a network. */
public class BusQueues implements WorkQueue, WorkConsumer {
    private final Bus bus;
    private final WorkRoutes routes;
    private final Faults faults;
    private final AtomicLong numbers = new AtomicLong();

    /** @param routes where consumers take from; producers always use the standard ones */
    public BusQueues(Bus bus, WorkRoutes routes, Faults faults) {
        this.bus = bus;
        this.routes = routes;
        this.faults = faults;
    }

    @Override
    public void enqueue(Context context, WorkKind kind, byte[] payload) {
        bus.publish(WorkRoutes.standard().of(kind).subject(), payload);
    }

    @Override
    public final void flush(Duration bound) {
        bus.flush(bound);
    }

    @Override
    public final Subscription consume(Context context, WorkKind kind, int maxInFlight, WorkHandler handler) {
        WorkRoutes.Route route = routes.of(kind);
        AtomicReference<Runnable> stop = new AtomicReference<>(() -> {});
        WorkDelivery delivery = new WorkDelivery(
                "consumer of " + kind.word(),
                context,
                maxInFlight,
                handler,
                bus,
                faults,
                () -> stop.get().run());
        Bus.Intake intake = bus.take(
                route.subject(),
                route.group(),
                (unit, answer) -> delivery.deliver(unit, route.subject() + " number " + numbers.incrementAndGet()),
                delivery::close);
        stop.set(intake::detach);
        return intake;
    }
}
