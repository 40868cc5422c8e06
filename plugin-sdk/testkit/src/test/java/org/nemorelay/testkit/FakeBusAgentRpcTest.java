package org.nemorelay.testkit;

class FakeBusAgentRpcTest extends AgentRpcConformance {
    @Override
    protected CarrierRig openRig() {
        return new FakeBusRig();
    }
}
