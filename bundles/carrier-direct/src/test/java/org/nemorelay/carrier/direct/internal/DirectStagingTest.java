package org.nemorelay.carrier.direct.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.StagingConformance;

class DirectStagingTest extends StagingConformance {
    @Override
    protected CarrierRig openRig() {
        return new DirectRig();
    }
}
