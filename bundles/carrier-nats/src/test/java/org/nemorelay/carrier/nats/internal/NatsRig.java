package org.nemorelay.carrier.nats.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.Optional;
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
    private final Optional<FakeS3> s3;
    final NatsServer server;
    private final NatsCarrier here;
    private final NatsCarrier peer;

    NatsRig() {
        this(NatsServer.start());
    }

    NatsRig(NatsServer server) {
        this(server, Optional.empty());
    }

    static NatsRig withStore() {
        return new NatsRig(NatsServer.start(), Optional.of(new FakeS3()));
    }

    private NatsRig(NatsServer server, Optional<FakeS3> s3) {
        this.server = server;
        this.s3 = s3;
        here = carrier("here");
        peer = carrier("peer");
        Await.until("both are connected", () -> here.connected() && peer.connected());
    }

    NatsCarrier carrier(String name) {
        return carrier(Links.plain(name, server), s3.map(NatsRig::store), recorder);
    }

    private static S3Store store(FakeS3 s3) {
        try {
            Path secret = Files.createTempFile("secret-", ".key");
            secret.toFile().deleteOnExit();
            Files.writeString(secret, FakeS3.SECRET);
            return new S3Store(
                    s3.endpoint(),
                    FakeS3.BUCKET,
                    "us-east-1",
                    Optional.of(new S3Store.Keys(FakeS3.ACCESS, secret)),
                    100_000);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static NatsCarrier carrier(Settings settings, Recorder recorder) {
        return carrier(settings, Optional.empty(), recorder);
    }

    private static NatsCarrier carrier(Settings settings, Optional<S3Store> store, Recorder recorder) {
        return new NatsCarrier(
                settings,
                store,
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
        s3.ifPresent(FakeS3::close);
    }
}
