package org.nemorelay.worker.internal;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.nemorelay.control.ControlClient;
import org.nemorelay.control.ControlListener;
import org.nemorelay.control.WorkerRegistration;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.control.Capabilities;
import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SettingReport;

/** {@link Daemon} over the control socket. For the worker's thread. */
final class ControlDaemon implements Daemon {
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
    public Link register(String endpoint, LaunchGrant grant, ControlListener listener, long deadlineNanos) {
        return linked(client.registerWorker(endpoint, grant, tlsRoot, listener, deadlineNanos));
    }

    @Override
    public Link recover(String endpoint, ControlListener listener, long deadlineNanos) {
        return linked(client.recoverWorker(endpoint, tlsRoot, generation.orElseThrow(), listener, deadlineNanos));
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
        public void ready(long deadlineNanos) {
            long millis = Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime()));
            registration.session().request(new SessionPayload.Ready(workerId), millis);
        }

        @Override
        public void report(List<PluginReport> plugins, List<SettingReport> settings) {
            if (registration.session().daemon().offers(Capabilities.PEER)) {
                registration.session().request(new SessionPayload.ReportPlugins(plugins, settings));
            }
        }

        @Override
        public boolean leave() {
            boolean peer = registration.session().daemon().offers(Capabilities.PEER);
            if (peer) {
                registration.session().request(new SessionPayload.Leave());
            }
            return peer;
        }

        @Override
        public void close() {
            registration.session().close();
        }
    }
}
