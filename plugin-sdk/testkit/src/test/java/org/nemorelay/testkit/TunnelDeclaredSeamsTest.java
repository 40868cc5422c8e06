package org.nemorelay.testkit;

class TunnelDeclaredSeamsTest extends DeclaredSeamsConformance {
    @Override
    protected CarrierRig openRig() {
        return new TunnelRig();
    }

    @Override
    protected String column() {
        return "test tunnel";
    }
}
