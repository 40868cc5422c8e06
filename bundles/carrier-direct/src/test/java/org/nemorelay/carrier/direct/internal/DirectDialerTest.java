package org.nemorelay.carrier.direct.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.DialerConformance;

class DirectDialerTest extends DialerConformance {
    @Override
    protected CarrierRig openRig() {
        return new DirectRig();
    }
}
