package org.nemorelay.carrier.nats.internal;

import org.nemorelay.testkit.AgentRpcConformance;
import org.nemorelay.testkit.CarrierRig;

class NatsAgentRpcTest extends AgentRpcConformance {
    @Override
    protected CarrierRig openRig() {
        return new NatsRig();
    }
}
