package org.nemorelay.daemon.internal;

import java.util.List;
import java.util.Optional;
import org.nemorelay.broker.StagedWorker.Permit;
import org.nemorelay.identity.Generation;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SettingReport;

/** An authenticated peer, over as many sockets as it needs. All belongs to the control thread. */
abstract sealed class ControlSession {
    final String id;
    final Fingerprint fingerprint;
    final Secret token;

    /** The socket that authenticated last, while it is open. */
    Optional<ControlSocket> socket = Optional.empty();

    boolean connectedBefore;
    long sequence;
    String lastRequestId = "";
    Optional<ServerEvent.Reply> lastReply = Optional.empty();

    private ControlSession(String id, Fingerprint fingerprint, Secret token) {
        this.id = id;
        this.fingerprint = fingerprint;
        this.token = token;
    }

    /** A harness session's lifecycle client. */
    static final class Mcp extends ControlSession {
        /** It speaks what only this implementation does; of the registration that was last. */
        boolean peer;

        Mcp(String id, Fingerprint fingerprint, Secret token) {
            super(id, fingerprint, token);
        }
    }

    /** A generation that was written, and the one that stood there before. */
    record Recorded(Generation generation, Optional<Generation> previous) {}

    /** A worker, staged or published. */
    static final class Worker extends ControlSession {
        final WorkerRoute route;
        Permit permit;
        String dataToken;

        /** Its generation on disk, with what it replaced there, once it was written for its launch. */
        Optional<Recorded> recorded = Optional.empty();

        /** When the drain ends, once it has begun. */
        Optional<Long> drainDeadline = Optional.empty();

        List<PluginReport> plugins = List.of();
        List<SettingReport> settings = List.of();

        Worker(String id, Fingerprint fingerprint, Secret token, WorkerRoute route) {
            super(id, fingerprint, token);
            this.route = route;
        }
    }
}
