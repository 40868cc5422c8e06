package org.nemorelay.testkit;

class FakeBusCommandSenderTest extends CommandSenderConformance {
    @Override
    protected CarrierRig openRig() {
        return new FakeBusRig();
    }
}
