package org.nemorelay.carrier.local.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.DialerConformance;

class LocalDialerTest extends DialerConformance {
    @Override
    protected CarrierRig openRig() {
        return new LocalRig();
    }
}
