package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.ControlServerConformance;

/** The whole suite while the carrier changes all the time. */
class SwitchingControlServerTest extends ControlServerConformance {
    @Override
    protected CarrierRig openRig() {
        return FacadeRig.switching();
    }
}
