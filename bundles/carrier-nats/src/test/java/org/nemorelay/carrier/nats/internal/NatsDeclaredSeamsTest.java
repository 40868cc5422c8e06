package org.nemorelay.carrier.nats.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.DeclaredSeamsConformance;

class NatsDeclaredSeamsTest extends DeclaredSeamsConformance {
    @Override
    protected CarrierRig openRig() {
        return NatsRig.withStore();
    }
}
