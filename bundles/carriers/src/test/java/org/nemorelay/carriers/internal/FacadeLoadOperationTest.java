package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.LoadOperationConformance;

class FacadeLoadOperationTest extends LoadOperationConformance {
    @Override
    protected CarrierRig openRig() {
        return new FacadeRig();
    }
}
