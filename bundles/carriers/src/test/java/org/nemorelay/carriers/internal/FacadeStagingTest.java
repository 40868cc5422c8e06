package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.StagingConformance;

class FacadeStagingTest extends StagingConformance {
    @Override
    protected CarrierRig openRig() {
        return new FacadeRig();
    }
}
