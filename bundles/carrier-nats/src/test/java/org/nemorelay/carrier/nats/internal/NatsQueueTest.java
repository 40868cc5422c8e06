package org.nemorelay.carrier.nats.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.QueueConformance;

class NatsQueueTest extends QueueConformance {
    @Override
    protected CarrierRig openRig() {
        return new NatsRig();
    }
}
