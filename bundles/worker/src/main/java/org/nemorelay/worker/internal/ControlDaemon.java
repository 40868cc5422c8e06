package org.nemorelay.worker.internal;

import java.util.List;
import java.util.Optional;
import org.nemorelay.control.ControlClient;
import org.nemorelay.control.ControlListener;
import org.nemorelay.control.WorkerRegistration;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.control.Capabilities;
import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.SessionPayload;

/** {@link Daemon} over the control socket. For the worker's thread. */
final class ControlDaemon implements Daemon {
    /** The daemon probes and has its state on disk before it answers, and a start has no deadline: a slow disk is no failure. */
    private static final long READY_MS = 30_000;

    private final ControlClient client;
    private final Optional<String> tlsRoot;
    private Optional<GenerationGrant> generation = Optional.empty();

    /** @param tlsRoot the only root that vouches for this worker, as base64url of its DER, where it serves over TLS */
    ControlDaemon(ControlClient client, Optional<String> tlsRoot) {
        this.client = client;
        this.tlsRoot = tlsRoot;
    }

    @Override
    public String workerId() {
        return client.instanceId();
    }

    @Override
    public Link register(String endpoint, LaunchGrant grant, ControlListener listener) {
        return linked(client.registerWorker(endpoint, grant, tlsRoot, listener));
    }

    @Override
    public Link recover(String endpoint, ControlListener listener) {
        return linked(client.recoverWorker(endpoint, tlsRoot, generation.orElseThrow(), listener));
    }

    private Link linked(WorkerRegistration registration) {
        generation = Optional.of(registration.generationGrant());
        return new SessionLink(workerId(), registration);
    }

    private record SessionLink(String workerId, WorkerRegistration registration) implements Link {
        @Override
        public Secret dataToken() {
            return registration.dataToken();
        }

        @Override
        public void ready() {
            registration.session().request(new SessionPayload.Ready(workerId), READY_MS);
        }

        @Override
        public void report(List<PluginReport> plugins) {
            if (registration.session().daemon().offers(Capabilities.PEER)) {
                registration.session().request(new SessionPayload.ReportPlugins(plugins));
            }
        }

        @Override
        public void close() {
            registration.session().close();
        }
    }
}
