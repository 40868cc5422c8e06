package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.CommandSenderConformance;

/** The whole suite while the carrier changes all the time. */
class SwitchingCommandSenderTest extends CommandSenderConformance {
    @Override
    protected CarrierRig openRig() {
        return FacadeRig.switching();
    }
}
