package org.nemorelay.carrier.local.internal;

import org.nemorelay.testkit.AgentRpcConformance;
import org.nemorelay.testkit.CarrierRig;

class LocalAgentRpcTest extends AgentRpcConformance {
    @Override
    protected CarrierRig openRig() {
        return new LocalRig();
    }
}
