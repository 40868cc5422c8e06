package org.nemorelay.testkit;

class FakeBusQueueTest extends QueueConformance {
    @Override
    protected CarrierRig openRig() {
        return new FakeBusRig();
    }
}
