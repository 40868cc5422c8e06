package org.nemorelay.daemon.internal;

import java.nio.ByteBuffer;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.broker.Broker;
import org.nemorelay.broker.Generation;
import org.nemorelay.broker.GrantSecrets;
import org.nemorelay.broker.Outcome;
import org.nemorelay.broker.WorkerLease;
import org.nemorelay.identity.DrainingWorker;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.FrameException;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.SettingReport;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/**
 * The control sockets of one daemon and its broker (relay-daemon 3 and 5). Signatures are checked on the threads of the
 * sockets, probes and state writes happen elsewhere; everything else runs on one control thread, in the order it came.
 */
final class ControlPlane implements AutoCloseable {
    static final long DISCONNECT_GRACE_MS = 30_000;
    private static final long AUTHENTICATION_MS = 5_000;

    /** What is heard of a peer that closes its connection, or ends with it; all else is the daemon's doing. */
    private static final Set<String> ITS_OWN = Set.of("peer_closed", "socket_read_failed", "socket_write_failed");

    private final Broker broker;
    private final Handshake handshake;
    private final Clock clock;
    private final EventLog log;
    private final ControlThread thread;
    private final Sessions sessions;
    private final ExitWatch exits;
    private final Forwarding forwarding = new Forwarding();
    private final Effects effects;
    private final PluginReports plugins;
    private final SessionCommands commands;
    private final Registrations registrations;

    private volatile boolean stopping;

    private final Throttle strangers = new Throttle();

    /** Of the control thread. */
    private final Set<ControlSocket> sockets = new LinkedHashSet<>();

    ControlPlane(
            Broker broker,
            Handshake handshake,
            ProofDesk proofs,
            Ids ids,
            Clock clock,
            StateWriter state,
            WorkerProbe probe,
            EventLog log) {
        this.broker = broker;
        this.handshake = handshake;
        this.clock = clock;
        this.log = log;
        GrantSecrets.Source grants =
                () -> new GrantSecrets(ids.id(), ids.secret().text());
        thread = new ControlThread(clock, log, () -> due(grants), broker::nextWakeAt);
        sessions = new Sessions(thread, ids, clock, log, this::drainAcknowledged);
        Generations generations = new Generations(state, thread, log);
        exits = new ExitWatch(broker, thread, sessions::connected, this::ended);
        effects = new Effects(sessions, generations, ids, new TransitionLog(log, clock), exits, forwarding, clock);
        Publications publications = new Publications(broker, thread, sessions, generations, effects, probe, log);
        plugins = new PluginReports(broker, sessions, log);
        commands = new SessionCommands(broker, thread, sessions, effects, publications, plugins);
        registrations = new Registrations(broker, handshake, proofs, ids, thread, sessions, effects, grants, log);
    }

    /**
     * The workers of an earlier daemon process may return for one grace, and those that drain are waited for.
     *
     * @param longestDrainMs what no drain has left, whatever the clock says
     */
    void recover(List<org.nemorelay.identity.Generation> saved, List<DrainingWorker> draining, long longestDrainMs) {
        draining.forEach(worker -> thread.post(() -> {
            long left = Math.clamp(worker.untilUnixMs() - clock.unixMs(), 0, longestDrainMs);
            effects.apply(broker.restoreDraining(
                    worker.fingerprint(),
                    worker.generationId(),
                    worker.workerId(),
                    worker.endpoint(),
                    thread.now() + left));
            if (!broker.passThrough()) {
                exits.begin(worker.workerId(), worker.endpoint());
            }
        }));
        if (saved.isEmpty()) {
            return;
        }
        log.log(
                Level.INFO,
                TransitionLog.TARGET,
                "worker_recovery_started",
                "Workers of an earlier daemon process may return",
                "worker_count",
                saved.size(),
                "grace_period_ms",
                DISCONNECT_GRACE_MS);
        thread.post(() -> {
            for (org.nemorelay.identity.Generation generation : saved) {
                effects.apply(broker.restore(
                        generation.fingerprint(),
                        new Generation(generation.generationId(), generation.activationId()),
                        thread.now() + DISCONNECT_GRACE_MS));
            }
        });
    }

    /** Whether sockets may still come. Any thread. */
    boolean open() {
        return !stopping;
    }

    /** How to reach the worker of a lease; nothing when it has just gone. Any thread. */
    Optional<WorkerRoute> route(WorkerLease lease) {
        return sessions.route(lease.workerId());
    }

    /** What goes to workers now. Any thread. */
    Forwarding forwarding() {
        return forwarding;
    }

    /** A request to a worker failed in transport. Any thread. */
    void workerFailed(WorkerLease lease) {
        thread.post(() -> effects.accepted(broker.workerFailed(lease, thread.now())));
    }

    /** The last request of a draining worker has ended. Any thread. */
    void drainProgress(String workerId) {
        thread.post(() -> effects.accepted(broker.drainProgress(workerId, thread.now())));
    }

    /** What the workers said of their plugins, by worker. Blocks for two seconds at most. */
    Map<String, List<PluginReport>> plugins() {
        return thread.ask(plugins::all);
    }

    /** What is in force in the workers that say so, by worker. Blocks for two seconds at most. */
    Map<String, List<SettingReport>> settings() {
        return thread.ask(plugins::settings);
    }

    // ---- from the sockets, on their threads

    void opened(ControlSocket socket) {
        thread.post(() -> {
            sockets.add(socket);
            thread.after(AUTHENTICATION_MS, () -> {
                if (socket.session == null) {
                    socket.drop("authentication_timeout");
                }
            });
        });
    }

    void closed(ControlSocket socket, String reason) {
        thread.post(() -> {
            sockets.remove(socket);
            socket.takeChallenge().ifPresent(unused -> handshake.forget(socket.role()));
            ControlSession session = socket.session;
            if (session == null) {
                strangerClosed(socket, reason);
                return;
            }
            if (session.socket.filter(current -> current == socket).isEmpty()) {
                return;
            }
            session.socket = Optional.empty();
            if (!stopping) {
                disconnected(session, reason);
            }
        });
    }

    /** A connection that never became a session; that it was not let live is said, that its client left is not. */
    private void strangerClosed(ControlSocket socket, String reason) {
        if (reason.equals("peer_closed") || reason.equals("socket_read_failed")) {
            return;
        }
        strangers
                .pass(reason, thread.now())
                .ifPresent(suppressed -> log.log(
                        Level.WARN,
                        TransitionLog.TARGET,
                        "control_connection_dropped",
                        "A control connection was dropped before it was registered",
                        "role",
                        socket.role().name().toLowerCase(Locale.ROOT),
                        "reason",
                        reason,
                        "suppressed_since_last_emit",
                        suppressed));
    }

    void pong(ControlSocket socket, ByteBuffer payload) {
        thread.post(() -> {
            if (payload.equals(socket.awaitedPong)) {
                socket.awaitedPong = null;
                thread.after(Sessions.PING_MS, () -> sessions.ping(socket));
            }
        });
    }

    /** Runs it on the control thread, behind what a frame that was received before has caused there. */
    void whenDone(Runnable task) {
        thread.post(task);
    }

    /** Runs it on the control thread after so many milliseconds. Any thread. */
    void later(long delayMs, Runnable task) {
        thread.post(() -> thread.after(delayMs, task));
    }

    void received(ControlSocket socket, String text) {
        CommandFrame frame;
        try {
            frame = FrameCodec.decodeCommand(text);
        } catch (FrameException e) {
            socket.drop(
                    switch (e.reason()) {
                        case INVALID_REQUEST_ID -> "invalid_request_id";
                        case MALFORMED, TOO_LARGE -> "malformed_request";
                    });
            return;
        }
        if (frame.requestId().equals(socket.lastRequestId)) {
            repeated(socket, text);
            return;
        }
        socket.lastRequestId = frame.requestId();
        socket.lastText = text;
        socket.lastReply = "";
        switch (frame.command()) {
            case ClientCommand.Challenge challenge -> registrations.challenge(socket, frame.requestId(), challenge);
            case ClientCommand.RegisterMcp register -> registrations.registerMcp(socket, frame.requestId(), register);
            case ClientCommand.RegisterWorker register ->
                registrations.registerWorker(socket, frame.requestId(), register);
            case ClientCommand.RecoverWorker recover -> registrations.recoverWorker(socket, frame.requestId(), recover);
            case ClientCommand.Session session ->
                thread.post(() -> commands.received(socket, frame.requestId(), session.request()));
            case ClientCommand.Acknowledge acknowledge ->
                thread.post(() -> commands.acknowledge(socket, frame.requestId(), acknowledge.requestId()));
        }
    }

    private static void repeated(ControlSocket socket, String text) {
        if (!text.equals(socket.lastText)) {
            socket.drop("request_id_reused");
            return;
        }
        String reply = socket.lastReply;
        if (!reply.isEmpty()) {
            socket.sendText(reply);
        }
    }

    private void disconnected(ControlSession session, String reason) {
        switch (session) {
            case ControlSession.Mcp mcp -> {
                boolean released = sessions.mcps.get(mcp.id) != mcp;
                log.log(
                        Level.INFO,
                        TransitionLog.TARGET,
                        "mcp_control_disconnected",
                        released
                                ? "MCP control disconnected after its release"
                                : "MCP control disconnected; waiting for reconnection",
                        "mcp_session_id",
                        mcp.id,
                        "reason",
                        reason,
                        "grace_period_ms",
                        released ? 0 : DISCONNECT_GRACE_MS);
                if (!released) {
                    effects.accepted(broker.mcpDisconnected(mcp.id, thread.now()));
                }
            }
            case ControlSession.Worker worker -> {
                boolean expected = worker.drainDeadline.isPresent() || sessions.workers.get(worker.id) != worker;
                log.log(
                        expected ? Level.INFO : Level.WARN,
                        TransitionLog.TARGET,
                        "worker_control_disconnected",
                        expected ? "Worker control disconnected" : "Worker control disconnected; waiting for recovery",
                        "worker_id",
                        worker.id,
                        "reason",
                        reason,
                        "grace_period_ms",
                        expected ? 0 : DISCONNECT_GRACE_MS);
                effects.accepted(
                        ITS_OWN.contains(reason)
                                ? broker.workerDisconnected(worker.permit, thread.now())
                                : broker.workerCut(worker.permit, thread.now()));
            }
        }
    }

    private void drainAcknowledged(ControlSession.Worker worker) {
        effects.accepted(broker.drainAcknowledged(worker.id, thread.now()));
    }

    private void ended(Outcome<Void> outcome) {
        effects.accepted(outcome);
    }

    private void due(GrantSecrets.Source grants) {
        effects.apply(broker.advance(grants, thread.now()));
    }

    /** Drops every socket and ends the control thread. */
    @Override
    public void close() {
        stopping = true;
        thread.end(() -> List.copyOf(sockets).forEach(socket -> socket.drop("peer_closed")));
    }
}
