package org.nemorelay.carrier.local.internal;

import org.nemorelay.testkit.BroadcasterConformance;
import org.nemorelay.testkit.CarrierRig;

class LocalBroadcasterTest extends BroadcasterConformance {
    @Override
    protected CarrierRig openRig() {
        return new LocalRig();
    }
}
