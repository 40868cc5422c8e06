package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.DeclaredSeamsConformance;

class FacadeDeclaredSeamsTest extends DeclaredSeamsConformance {
    @Override
    protected CarrierRig openRig() {
        return new FacadeRig();
    }
}
