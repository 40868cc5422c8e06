package org.nemorelay.carrier.local.internal;

import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.DialConformance;

class LocalDialTest extends DialConformance {
    @Override
    protected CarrierRig openRig() {
        return new LocalRig();
    }
}
