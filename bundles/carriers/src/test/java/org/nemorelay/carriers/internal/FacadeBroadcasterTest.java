package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.BroadcasterConformance;
import org.nemorelay.testkit.CarrierRig;

class FacadeBroadcasterTest extends BroadcasterConformance {
    @Override
    protected CarrierRig openRig() {
        return new FacadeRig();
    }
}
