package org.nemorelay.carrier.local.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.DeclaredSeamsConformance;

class LocalDeclaredSeamsTest extends DeclaredSeamsConformance {
    @Override
    protected CarrierRig openRig() {
        return new LocalRig();
    }
}
