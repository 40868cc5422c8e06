package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.ControlServerConformance;

class FacadeControlServerTest extends ControlServerConformance {
    @Override
    protected CarrierRig openRig() {
        return new FacadeRig();
    }
}
