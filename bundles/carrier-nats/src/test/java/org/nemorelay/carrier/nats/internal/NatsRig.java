package org.nemorelay.carrier.nats.internal;

import java.util.EnumSet;
import java.util.Set;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Exchange;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.Capability;
import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.NatsServer;
import org.nemorelay.testkit.Recorder;

/** Two connections to a server of their own, as two processes would have them. */
final class NatsRig implements CarrierRig {
    private final Recorder recorder = new Recorder();
    final NatsServer server;
    private final NatsCarrier here;
    private final NatsCarrier peer;

    NatsRig() {
        this(NatsServer.start());
    }

    NatsRig(NatsServer server) {
        this.server = server;
        here = carrier("here");
        peer = carrier("peer");
        Await.until("both are connected", () -> here.connected() && peer.connected());
    }

    NatsCarrier carrier(String name) {
        return carrier(Links.plain(name, server), recorder);
    }

    static NatsCarrier carrier(Settings settings, Recorder recorder) {
        return new NatsCarrier(
                settings,
                WorkRoutes.standard(),
                ControlTimeouts.atMost(BOUND),
                recorder,
                new Faults(recorder, recorder));
    }

    @Override
    public Carrier here() {
        return here;
    }

    @Override
    public Carrier peer() {
        return peer;
    }

    @Override
    public Set<Capability> capabilities() {
        return EnumSet.of(Capability.OWN_DELIVERY_THREADS, Capability.OBJECT_STORE, Capability.LINK_CAN_BREAK);
    }

    @Override
    public Recorder recorder() {
        return recorder;
    }

    @Override
    public int maxPayload() {
        return 1024 * 1024;
    }

    @Override
    public Exchange exchange() {
        return here.exchange();
    }

    @Override
    public void breakLink() {
        server.kill();
    }

    @Override
    public void restoreLink() {
        server.restart();
        Await.until("the peer is back too", peer::connected);
    }

    @Override
    public void close() {
        here.close();
        peer.close();
        server.close();
    }
}
