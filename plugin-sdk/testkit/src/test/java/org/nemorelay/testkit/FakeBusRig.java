package org.nemorelay.testkit;

import java.util.Set;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Exchange;

final class FakeBusRig implements CarrierRig {
    private final FakeBus bus = new FakeBus();

    @Override
    public Carrier here() {
        return bus;
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(Capability.LINK_CAN_BREAK);
    }

    @Override
    public Recorder recorder() {
        return bus.recorder();
    }

    @Override
    public int maxPayload() {
        return 1024 * 1024;
    }

    @Override
    public Exchange exchange() {
        return bus.exchange();
    }

    @Override
    public void breakLink() {
        bus.disconnect();
    }

    @Override
    public void restoreLink() {
        bus.triggerReconnect();
    }

    @Override
    public void close() {}
}
