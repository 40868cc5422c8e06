package org.nemorelay.carrier.nats.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.ControlServerConformance;

class NatsControlServerTest extends ControlServerConformance {
    @Override
    protected CarrierRig openRig() {
        return new NatsRig();
    }
}
