package org.nemorelay.carrier.nats.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.StagingConformance;

class NatsStagingTest extends StagingConformance {
    @Override
    protected CarrierRig openRig() {
        return NatsRig.withStore();
    }
}
