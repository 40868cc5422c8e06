package org.nemorelay.carrier.nats.internal;

import org.nemorelay.testkit.BroadcasterConformance;
import org.nemorelay.testkit.CarrierRig;

class NatsBroadcasterTest extends BroadcasterConformance {
    @Override
    protected CarrierRig openRig() {
        return new NatsRig();
    }
}
