package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.CommandSenderConformance;

class FacadeCommandSenderTest extends CommandSenderConformance {
    @Override
    protected CarrierRig openRig() {
        return new FacadeRig();
    }
}
