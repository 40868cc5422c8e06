package org.nemorelay.testkit;

class FakeBusControlServerTest extends ControlServerConformance {
    @Override
    protected CarrierRig openRig() {
        return new FakeBusRig();
    }
}
