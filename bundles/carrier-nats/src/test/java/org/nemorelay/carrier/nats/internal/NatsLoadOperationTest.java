package org.nemorelay.carrier.nats.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.LoadOperationConformance;

class NatsLoadOperationTest extends LoadOperationConformance {
    @Override
    protected CarrierRig openRig() {
        return new NatsRig();
    }
}
