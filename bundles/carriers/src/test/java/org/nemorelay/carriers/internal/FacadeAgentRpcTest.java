package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.AgentRpcConformance;
import org.nemorelay.testkit.CarrierRig;

class FacadeAgentRpcTest extends AgentRpcConformance {
    @Override
    protected CarrierRig openRig() {
        return new FacadeRig();
    }
}
