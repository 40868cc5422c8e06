package org.nemorelay.carrier.direct.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.DialConformance;

class DirectDialTest extends DialConformance {
    @Override
    protected CarrierRig openRig() {
        return new DirectRig();
    }
}
