package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.QueueConformance;

class FacadeQueueTest extends QueueConformance {
    @Override
    protected CarrierRig openRig() {
        return new FacadeRig();
    }
}
