package org.nemorelay.carrier.direct.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.DeclaredSeamsConformance;

class DirectDeclaredSeamsTest extends DeclaredSeamsConformance {
    @Override
    protected CarrierRig openRig() {
        return new DirectRig();
    }
}
