package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.DialerConformance;

class FacadeDialerTest extends DialerConformance {
    @Override
    protected CarrierRig openRig() {
        return new FacadeRig();
    }
}
