package org.nemorelay.testkit;

class TunnelDialTest extends DialConformance {
    @Override
    protected CarrierRig openRig() {
        return new TunnelRig();
    }
}
