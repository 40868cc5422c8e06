package org.nemorelay.carrier.local.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.CommandSenderConformance;

class LocalCommandSenderTest extends CommandSenderConformance {
    @Override
    protected CarrierRig openRig() {
        return new LocalRig();
    }
}
