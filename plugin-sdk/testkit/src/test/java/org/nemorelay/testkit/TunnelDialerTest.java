package org.nemorelay.testkit;

class TunnelDialerTest extends DialerConformance {
    @Override
    protected CarrierRig openRig() {
        return new TunnelRig();
    }
}
