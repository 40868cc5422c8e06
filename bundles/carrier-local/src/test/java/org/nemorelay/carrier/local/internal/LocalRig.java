package org.nemorelay.carrier.local.internal;

import java.util.EnumSet;
import java.util.Set;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Exchange;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.testkit.Capability;
import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.Recorder;

final class LocalRig implements CarrierRig {
    static final int MAX_PAYLOAD = 1024 * 1024;

    private final Recorder recorder = new Recorder();
    private final LocalCarrier carrier;

    LocalRig() {
        this(WorkRoutes.standard());
    }

    LocalRig(WorkRoutes routes) {
        carrier = new LocalCarrier(
                "local", MAX_PAYLOAD, routes, ControlTimeouts.atMost(BOUND), new Faults(recorder, recorder));
    }

    @Override
    public Carrier here() {
        return carrier;
    }

    @Override
    public Set<Capability> capabilities() {
        return EnumSet.complementOf(EnumSet.of(Capability.LINK_CAN_BREAK));
    }

    @Override
    public Recorder recorder() {
        return recorder;
    }

    @Override
    public int maxPayload() {
        return MAX_PAYLOAD;
    }

    @Override
    public Exchange exchange() {
        return carrier.exchange();
    }

    @Override
    public void close() {
        carrier.close();
    }
}
