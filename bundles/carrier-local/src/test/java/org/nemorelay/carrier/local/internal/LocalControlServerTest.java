package org.nemorelay.carrier.local.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.ControlServerConformance;

class LocalControlServerTest extends ControlServerConformance {
    @Override
    protected CarrierRig openRig() {
        return new LocalRig();
    }
}
