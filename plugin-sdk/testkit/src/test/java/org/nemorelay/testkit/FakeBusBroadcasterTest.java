package org.nemorelay.testkit;

class FakeBusBroadcasterTest extends BroadcasterConformance {
    @Override
    protected CarrierRig openRig() {
        return new FakeBusRig();
    }
}
