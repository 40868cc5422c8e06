package org.nemorelay.carrier.local.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.StagingConformance;

class LocalStagingTest extends StagingConformance {
    @Override
    protected CarrierRig openRig() {
        return new LocalRig();
    }
}
