package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.DialConformance;

class FacadeDialTest extends DialConformance {
    @Override
    protected CarrierRig openRig() {
        return new FacadeRig();
    }
}
