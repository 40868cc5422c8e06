package org.nemorelay.carrier.local.internal;

import org.nemorelay.seams.Context;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.carrier.BusQueues;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.WorkRoutes;

/** Queues on the bus. Unlike a network's, they heed the producer's context: a cancelled one enqueues nothing. */
final class LocalQueues extends BusQueues {
    LocalQueues(LocalBus bus, WorkRoutes routes, Faults faults) {
        super(bus, routes, faults);
    }

    @Override
    public void enqueue(Context context, WorkKind kind, byte[] payload) {
        context.check("enqueue of " + kind.word());
        super.enqueue(context, kind, payload);
    }
}
