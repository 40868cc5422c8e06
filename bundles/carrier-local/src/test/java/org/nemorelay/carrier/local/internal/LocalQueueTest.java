package org.nemorelay.carrier.local.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.QueueConformance;

class LocalQueueTest extends QueueConformance {
    @Override
    protected CarrierRig openRig() {
        return new LocalRig();
    }
}
