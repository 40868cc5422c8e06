package org.nemorelay.carriers.internal;

import org.nemorelay.testkit.AgentRpcConformance;
import org.nemorelay.testkit.CarrierRig;

/** The whole suite while the carrier changes all the time. */
class SwitchingAgentRpcTest extends AgentRpcConformance {
    @Override
    protected CarrierRig openRig() {
        return FacadeRig.switching();
    }
}
