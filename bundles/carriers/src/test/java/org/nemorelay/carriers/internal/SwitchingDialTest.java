package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.DialConformance;

/** The whole suite while the carrier changes all the time. */
class SwitchingDialTest extends DialConformance {
    @Override
    protected CarrierRig openRig() {
        return FacadeRig.switching();
    }
}
