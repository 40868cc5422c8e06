package org.nemorelay.carrier.direct.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.channels.ByteChannel;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.nemorelay.backend.echo.GrpcBackendServer;
import org.nemorelay.files.FileAreas;
import org.nemorelay.files.FileServer;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.dial.BackendService;
import org.nemorelay.testkit.Capability;
import org.nemorelay.testkit.CarrierRig;
import org.nemorelay.testkit.Recorder;

/** Real sockets on loopback, at ports from the operating system. */
final class DirectRig implements CarrierRig {
    static final String TOKEN = "registration-token";

    private final Recorder recorder = new Recorder();
    private final int backendPort = Listening.freePort();
    private final int serverPort = Listening.freePort();
    private final DirectCarrier carrier = new DirectCarrier("direct", TOKEN, Map.of());

    DirectRig() {
        carrier.addAddresses(node -> Optional.of(serverAddress()));
    }

    @Override
    public Carrier here() {
        return carrier;
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of();
    }

    @Override
    public Recorder recorder() {
        return recorder;
    }

    @Override
    public int maxPayload() {
        return 0;
    }

    @Override
    public String backendAddress() {
        return "127.0.0.1:" + backendPort;
    }

    @Override
    public String serverAddress() {
        return "127.0.0.1:" + serverPort;
    }

    @Override
    public Registration serveBackend(String nodeId, String address, BackendService service) {
        try {
            return GrpcBackendServer.open(new InetSocketAddress("127.0.0.1", backendPort), service, TOKEN);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public Registration serveConnections(String nodeId, Consumer<ByteChannel> connection) {
        return new Listening(serverPort, connection);
    }

    @Override
    public Registration serveFiles(String nodeId, Path root) {
        try {
            return serveConnections(nodeId, new FileServer(FileAreas.below(root), TOKEN, () -> true)::serve);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        carrier.close();
    }
}
