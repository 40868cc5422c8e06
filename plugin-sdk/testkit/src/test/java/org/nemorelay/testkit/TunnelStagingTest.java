package org.nemorelay.testkit;

class TunnelStagingTest extends StagingConformance {
    @Override
    protected CarrierRig openRig() {
        return new TunnelRig();
    }
}
