package org.nemorelay.testkit;

class FakeBusDeclaredSeamsTest extends DeclaredSeamsConformance {
    @Override
    protected CarrierRig openRig() {
        return new FakeBusRig();
    }
}
