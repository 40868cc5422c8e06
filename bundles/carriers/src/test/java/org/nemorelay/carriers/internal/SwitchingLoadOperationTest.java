package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.LoadOperationConformance;

/** The whole suite while the carrier changes all the time. */
class SwitchingLoadOperationTest extends LoadOperationConformance {
    @Override
    protected CarrierRig openRig() {
        return FacadeRig.switching();
    }
}
