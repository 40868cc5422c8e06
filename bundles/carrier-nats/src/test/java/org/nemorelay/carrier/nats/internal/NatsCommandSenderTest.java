package org.nemorelay.carrier.nats.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.CommandSenderConformance;

class NatsCommandSenderTest extends CommandSenderConformance {
    @Override
    protected CarrierRig openRig() {
        return new NatsRig();
    }
}
