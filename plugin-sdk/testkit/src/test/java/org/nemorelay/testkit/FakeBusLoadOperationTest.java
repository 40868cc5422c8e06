package org.nemorelay.testkit;

class FakeBusLoadOperationTest extends LoadOperationConformance {
    @Override
    protected CarrierRig openRig() {
        return new FakeBusRig();
    }
}
