package org.nemorelay.testkit;

class TunnelDeclaredSeamsTest extends DeclaredSeamsConformance {
    @Override
    protected CarrierRig openRig() {
        return new TunnelRig();
    }
}
