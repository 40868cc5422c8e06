package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.BroadcasterConformance;
import org.nemorelay.testkit.CarrierRig;

/** The whole suite while the carrier changes all the time. */
class SwitchingBroadcasterTest extends BroadcasterConformance {
    @Override
    protected CarrierRig openRig() {
        return FacadeRig.switching();
    }
}
