package org.nemorelay.carrier.local.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.LoadOperationConformance;

class LocalLoadOperationTest extends LoadOperationConformance {
    @Override
    protected CarrierRig openRig() {
        return new LocalRig();
    }
}
