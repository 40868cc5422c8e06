package org.nemorelay.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.files.EnvironmentProxy;
import org.nemorelay.files.FileAreas;
import org.nemorelay.files.FileServer;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.carrier.Carrier;

final class TunnelRig implements CarrierRig {
    private final Recorder recorder = new Recorder();
    /** With a proxy in the environment, which a carrier that routes by node must not use. */
    private final TunnelCarrier carrier =
            new TunnelCarrier(Optional.of(new EnvironmentProxy("proxy.invalid:3128", List.of())), recorder);

    @Override
    public Carrier here() {
        return carrier;
    }

    @Override
    public Set<Capability> capabilities() {
        return Set.of(Capability.ROUTES_BY_NODE);
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
    public Registration serveFiles(String nodeId, Path root) {
        try {
            return carrier.endpoints().server(nodeId, new FileServer(FileAreas.below(root), "", () -> true)::serve);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        carrier.close();
    }
}
