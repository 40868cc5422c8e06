package org.nemorelay.daemon.internal;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.nemorelay.broker.Broker;
import org.nemorelay.broker.Generation;
import org.nemorelay.broker.GrantSecrets;
import org.nemorelay.broker.McpRegistration;
import org.nemorelay.broker.NetworkHint;
import org.nemorelay.broker.Outcome;
import org.nemorelay.broker.Refusal;
import org.nemorelay.broker.Registration;
import org.nemorelay.broker.StagedWorker;
import org.nemorelay.broker.StagedWorker.Permit;
import org.nemorelay.broker.Transition;
import org.nemorelay.broker.WorkerLease;
import org.nemorelay.broker.WorkerRegistration;
import org.nemorelay.broker.WorkerSecrets;
import org.nemorelay.http.Origin;
import org.nemorelay.http.WireProtocol;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.TokenDigest;
import org.nemorelay.protocol.control.Capabilities;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.FrameException;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.Proof;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SessionRequest;
import org.nemorelay.protocol.control.SignedTranscript;
import org.nemorelay.protocol.control.Transcript;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/**
 * Sessions, sockets and broker of one daemon (relay-daemon 3 and 5). Signatures are checked on the threads of the
 * sockets, probes and state writes happen elsewhere; everything else runs on one control thread, in the order it came.
 */
final class ControlPlane implements AutoCloseable {
    static final long DISCONNECT_GRACE_MS = 30_000;
    private static final long AUTHENTICATION_MS = 5_000;
    private static final long ACKNOWLEDGEMENT_MS = 5_000;
    private static final long PING_MS = 30_000;
    private static final long PONG_MS = 10_000;
    private static final int PING_BYTES = 16;
    private static final int MAX_ACTIVATION_ID = 128;
    private static final long QUESTION_MS = 2_000;

    private final Broker broker;
    private final Handshake handshake;
    private final ProofDesk proofs;
    private final Ids ids;
    private final Clock clock;
    private final StateWriter state;
    private final WorkerProbe probe;
    private final EventLog log;
    private final TransitionLog transitionLog;
    private final GrantSecrets.Source grants;
    private final ScheduledThreadPoolExecutor control;
    private final ConcurrentHashMap<String, WorkerRoute> workerRoutes = new ConcurrentHashMap<>();

    private volatile boolean stopping;

    // Of the control thread.
    private final Map<String, ControlSession.Mcp> mcps = new HashMap<>();
    private final Map<String, ControlSession.Worker> workers = new HashMap<>();
    private final Set<ControlSocket> sockets = new LinkedHashSet<>();
    private long wakeAt = Long.MAX_VALUE;
    private ScheduledFuture<?> wake;

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
        this.proofs = proofs;
        this.ids = ids;
        this.clock = clock;
        this.state = state;
        this.probe = probe;
        this.log = log;
        this.transitionLog = new TransitionLog(log, clock);
        this.grants = () -> new GrantSecrets(ids.id(), ids.secret().text());
        this.control = new ScheduledThreadPoolExecutor(
                1, task -> Thread.ofPlatform().name("daemon-control").daemon().unstarted(task));
        control.setRemoveOnCancelPolicy(true);
        control.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    /** The workers of an earlier daemon process may return for one grace. */
    void recover(List<org.nemorelay.identity.Generation> saved) {
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
        post(() -> {
            for (org.nemorelay.identity.Generation generation : saved) {
                apply(broker.restore(
                        generation.fingerprint(),
                        new Generation(generation.generationId(), generation.activationId()),
                        now() + DISCONNECT_GRACE_MS));
            }
        });
    }

    /** Whether sockets may still come. Any thread. */
    boolean open() {
        return !stopping;
    }

    /** How to reach the worker of a lease; nothing when it has just gone. Any thread. */
    Optional<WorkerRoute> route(WorkerLease lease) {
        return Optional.ofNullable(workerRoutes.get(lease.workerId()));
    }

    /** A request to a worker failed in transport. Any thread. */
    void workerFailed(WorkerLease lease) {
        post(() -> accepted(broker.workerFailed(lease, now())));
    }

    /** The last request of a draining worker has ended. Any thread. */
    void drainProgress(String workerId) {
        post(() -> accepted(broker.drainProgress(workerId, now())));
    }

    /** What the workers said of their plugins, by worker. Blocks for two seconds at most. */
    Map<String, List<PluginReport>> plugins() {
        return ask(() -> {
            Map<String, List<PluginReport>> all = new LinkedHashMap<>();
            workers.values().stream()
                    .sorted((a, b) -> a.id.compareTo(b.id))
                    .forEach(worker -> all.put(worker.id, worker.plugins));
            return all;
        });
    }

    // ---- from the sockets, on their threads

    void opened(ControlSocket socket) {
        post(() -> {
            sockets.add(socket);
            after(AUTHENTICATION_MS, () -> {
                if (socket.session == null) {
                    socket.drop("authentication_timeout");
                }
            });
        });
    }

    void closed(ControlSocket socket, String reason) {
        post(() -> {
            sockets.remove(socket);
            socket.takeChallenge().ifPresent(unused -> handshake.forget(socket.role()));
            ControlSession session = socket.session;
            if (session == null
                    || session.socket.filter(current -> current == socket).isEmpty()) {
                return;
            }
            session.socket = Optional.empty();
            disconnected(session, reason);
        });
    }

    void pong(ControlSocket socket, ByteBuffer payload) {
        post(() -> {
            if (payload.equals(socket.awaitedPong)) {
                socket.awaitedPong = null;
                after(PING_MS, () -> ping(socket));
            }
        });
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
            case ClientCommand.Challenge challenge -> challenge(socket, frame.requestId(), challenge);
            case ClientCommand.RegisterMcp register -> registerMcp(socket, frame.requestId(), register);
            case ClientCommand.RegisterWorker register -> registerWorker(socket, frame.requestId(), register);
            case ClientCommand.RecoverWorker recover -> recoverWorker(socket, frame.requestId(), recover);
            case ClientCommand.Session session ->
                post(() -> sessionCommand(socket, frame.requestId(), session.request()));
            case ClientCommand.Acknowledge acknowledge ->
                post(() -> acknowledge(socket, frame.requestId(), acknowledge.requestId()));
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

    private void challenge(ControlSocket socket, String requestId, ClientCommand.Challenge challenge) {
        if (socket.challenged) {
            refuse(socket, requestId, ControlFailure.unauthorized("this socket has had its challenge"));
            return;
        }
        Handshake.Answer answer = handshake.challenge(socket.role(), challenge);
        if (answer.pending().isEmpty()) {
            refuse(socket, requestId, answer.failure().orElseThrow());
            return;
        }
        socket.challenged = true;
        socket.challenge(answer.pending().get());
        if (!socket.open()) {
            socket.takeChallenge().ifPresent(unused -> handshake.forget(socket.role()));
        }
        socket.send(new ServerEvent.Reply(requestId, 200, answer.pending().get().issued()));
    }

    /** Takes the socket's challenge, which is used up whatever comes of it, and checks the proof. */
    private Optional<ControlFailure> prove(ControlSocket socket, Role role, SignedTranscript proof) {
        Optional<Handshake.Pending> pending = socket.takeChallenge();
        pending.ifPresent(unused -> handshake.forget(socket.role()));
        if (socket.role() != role
                || pending.filter(issued -> issued.issued()
                                .challengeId()
                                .equals(proof.transcript().challengeId()))
                        .isEmpty()) {
            return Optional.of(ControlFailure.unauthorized("the proof does not answer this socket's challenge"));
        }
        return handshake.problem(pending.get(), proof);
    }

    private void registerMcp(ControlSocket socket, String requestId, ClientCommand.RegisterMcp register) {
        Optional<ControlFailure> failure =
                prove(socket, Role.MCP, register.proof()).or(() -> Handshake.problem(register));
        if (failure.isPresent()) {
            refuse(socket, requestId, failure.get());
            return;
        }
        Transcript transcript = register.proof().transcript();
        Proof proof = handshake.prove(transcript);
        McpRegistration registration = new McpRegistration(
                transcript.initiatorInstanceId(),
                transcript.initiatorFingerprint(),
                transcript.routeTokenDigest().orElseThrow(),
                new NetworkHint(
                        register.workerNetwork().advertisedHost(),
                        register.workerNetwork().port().orElse(0)));
        post(() -> registered(socket, requestId, proof, registration, register.credential()));
    }

    private void registerWorker(ControlSocket socket, String requestId, ClientCommand.RegisterWorker register) {
        Optional<ControlFailure> failure = workerProblem(socket, register.proof(), register.workerId());
        if (failure.isEmpty() && register.activationId().length() > MAX_ACTIVATION_ID) {
            failure = Optional.of(
                    ControlFailure.of(FailureKind.INVALID_ARGUMENT, "activation_id must have 1 to 128 bytes"));
        }
        if (failure.isPresent()) {
            refuse(socket, requestId, failure.get());
            return;
        }
        Transcript transcript = register.proof().transcript();
        Proof proof = handshake.prove(transcript);
        WorkerRegistration worker = new WorkerRegistration(
                transcript.initiatorFingerprint(),
                register.workerId(),
                register.endpoint(),
                register.tlsRootCertificate(),
                transcript.initiator().offers(Capabilities.PEER));
        TokenDigest token = register.activationToken().digest();
        post(() -> {
            WorkerSecrets offered = new WorkerSecrets(ids.id(), ids.secret().text());
            Outcome<StagedWorker> outcome = broker.stageWorker(worker, register.activationId(), token, offered, now());
            staged(socket, requestId, proof, transcript, worker, outcome, "worker_registration_failed");
        });
    }

    private void recoverWorker(ControlSocket socket, String requestId, ClientCommand.RecoverWorker recover) {
        Optional<ControlFailure> failure =
                workerProblem(socket, recover.proof(), recover.workerId()).or(() -> handshake.problem(recover));
        if (failure.isPresent()) {
            refuse(socket, requestId, failure.get());
            return;
        }
        Transcript transcript = recover.proof().transcript();
        Proof proof = handshake.prove(transcript);
        WorkerRegistration worker = new WorkerRegistration(
                transcript.initiatorFingerprint(),
                recover.workerId(),
                recover.endpoint(),
                recover.tlsRootCertificate(),
                transcript.initiator().offers(Capabilities.PEER));
        post(() -> {
            Outcome<StagedWorker> outcome = broker.recoverWorker(
                    worker,
                    recover.generationGrant().generationId(),
                    ids.secret().text(),
                    now());
            staged(socket, requestId, proof, transcript, worker, outcome, "worker_recovery_failed");
        });
    }

    private Optional<ControlFailure> workerProblem(ControlSocket socket, SignedTranscript proof, String workerId) {
        return prove(socket, Role.WORKER, proof)
                .or(() -> proof.transcript().initiatorInstanceId().equals(workerId)
                        ? Optional.empty()
                        : Optional.of(ControlFailure.unauthorized("the proof names another worker")));
    }

    // ---- on the control thread

    private void registered(
            ControlSocket socket, String requestId, Proof proof, McpRegistration registration, Secret token) {
        if (!socket.open()) {
            return;
        }
        switch (broker.registerMcp(registration, grants, now())) {
            case Outcome.Refused<Registration> refused -> {
                apply(refused.transitions());
                refuse(socket, requestId, ControlFailure.of(refused.refusal()));
            }
            case Outcome.Accepted<Registration> accepted -> {
                proofs.remember(token); // before the session's first hook can ask
                ControlSession.Mcp session = mcps.computeIfAbsent(
                        registration.sessionId(),
                        id -> new ControlSession.Mcp(id, registration.fingerprint(), ids.secret()));
                Directive directive = accepted.value().directive();
                authenticate(socket, session);
                socket.send(new ServerEvent.Reply(
                        requestId, 200, new ReplyBody.McpRegistered(proof, session.token, directive)));
                push(session, new ServerEvent.DirectiveIssued(ids.uuid7(), directive), () -> {});
                apply(accepted.transitions());
                connected(session, "mcp_control", "mcp_session_id", "MCP");
            }
        }
    }

    private void staged(
            ControlSocket socket,
            String requestId,
            Proof proof,
            Transcript transcript,
            WorkerRegistration registration,
            Outcome<StagedWorker> outcome,
            String failureEvent) {
        switch (outcome) {
            case Outcome.Refused<StagedWorker> refused -> {
                apply(refused.transitions());
                ControlFailure failure = ControlFailure.of(refused.refusal());
                log.log(
                        Level.WARN,
                        TransitionLog.TARGET,
                        failureEvent,
                        "Worker was refused: " + failure.message(),
                        "fingerprint",
                        registration.fingerprint(),
                        "worker_id",
                        registration.workerId(),
                        "status",
                        failure.status(),
                        "route_mode",
                        "pass_through");
                refuse(socket, requestId, failure);
            }
            case Outcome.Accepted<StagedWorker> accepted -> {
                StagedWorker staged = accepted.value();
                ControlSession.Worker session = workers.computeIfAbsent(
                        registration.workerId(),
                        id -> new ControlSession.Worker(
                                id, registration.fingerprint(), ids.secret(), workerRoute(transcript, registration)));
                session.permit = staged.permit();
                session.dataToken = staged.dataToken();
                workerRoutes.put(session.id, session.route);
                if (!socket.open()) {
                    accepted(broker.workerDisconnected(session.permit, now()));
                    return;
                }
                authenticate(socket, session);
                socket.send(new ServerEvent.Reply(
                        requestId,
                        200,
                        new ReplyBody.WorkerRegistered(
                                proof,
                                session.token,
                                new Secret(staged.dataToken()),
                                handshake.grant(
                                        staged.generationId(),
                                        session.id,
                                        registration.fingerprint(),
                                        registration.endpoint(),
                                        registration.tlsRootCertificate()))));
                apply(accepted.transitions());
                connected(session, "worker_control", "worker_id", "Worker");
                staged.drainDeadlineMs().ifPresent(deadline -> {
                    session.drainDeadline = Optional.of(deadline);
                    drain(session);
                });
            }
        }
    }

    /** Between two of our own HTTP/1.1 is the faster road; a stock worker speaks HTTP/2 with prior knowledge only. */
    private static WorkerRoute workerRoute(Transcript transcript, WorkerRegistration registration) {
        return new WorkerRoute(
                Origin.of(registration.endpoint()),
                transcript.initiator().offers(Capabilities.PEER) ? WireProtocol.HTTP_1_1 : WireProtocol.H2C);
    }

    private void authenticate(ControlSocket socket, ControlSession session) {
        Optional<ControlSocket> previous = session.socket;
        session.socket = Optional.of(socket);
        session.sequence = 0;
        session.lastRequestId = "";
        session.lastReply = Optional.empty();
        socket.session = session;
        previous.ifPresent(old -> old.drop("connection_replaced"));
        if (!socket.loopback()) {
            after(PING_MS, () -> ping(socket));
        }
    }

    private void connected(ControlSession session, String event, String idField, String who) {
        log.log(
                Level.INFO,
                TransitionLog.TARGET,
                event + (session.connectedBefore ? "_reconnected" : "_connected"),
                who + " control connection " + (session.connectedBefore ? "re-established" : "established"),
                idField,
                session.id);
        session.connectedBefore = true;
    }

    private void disconnected(ControlSession session, String reason) {
        switch (session) {
            case ControlSession.Mcp mcp -> {
                boolean released = mcps.get(mcp.id) != mcp;
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
                    accepted(broker.mcpDisconnected(mcp.id, now()));
                }
            }
            case ControlSession.Worker worker -> {
                boolean expected = worker.drainDeadline.isPresent() || workers.get(worker.id) != worker;
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
                accepted(broker.workerDisconnected(worker.permit, now()));
            }
        }
    }

    private void acknowledge(ControlSocket socket, String requestId, String acknowledged) {
        if (socket.session == null) {
            refuse(socket, requestId, ControlFailure.unauthorized("the socket is not authenticated"));
            return;
        }
        Runnable action = socket.unacknowledged.remove(acknowledged);
        if (action == null && !acknowledged.equals(socket.lastAcknowledged)) {
            refuse(
                    socket,
                    requestId,
                    ControlFailure.of(FailureKind.CONFLICT, "nothing waits for this acknowledgement"));
            return;
        }
        socket.lastAcknowledged = acknowledged;
        socket.send(new ServerEvent.Reply(requestId, 204, new ReplyBody.Empty()));
        if (action != null) {
            action.run();
        }
    }

    private void sessionCommand(ControlSocket socket, String requestId, SessionRequest request) {
        ControlSession session = socket.session;
        if (session == null
                || session.socket.filter(current -> current == socket).isEmpty()
                || !session.id.equals(request.sessionId())
                || !session.token.equals(request.sessionToken())
                || current(session).isEmpty()) {
            refuse(socket, requestId, ControlFailure.unauthorized("the session is not authenticated on this socket"));
            return;
        }
        Optional<ControlFailure> misfit = misfit(session, request.payload());
        if (misfit.isPresent()) {
            refuse(socket, requestId, misfit.get());
            return;
        }
        if (!request.intact()) {
            refuse(socket, requestId, ControlFailure.unauthorized("the hash does not cover the payload"));
            return;
        }
        boolean duplicate =
                request.sequence() == session.sequence && request.requestId().equals(session.lastRequestId);
        if (!duplicate && request.sequence() != session.sequence + 1) {
            refuse(
                    socket,
                    requestId,
                    ControlFailure.of(FailureKind.CONFLICT, "the sequence number is not the next one"));
            return;
        }
        if (duplicate && session.lastReply.isPresent()) {
            ServerEvent.Reply last = session.lastReply.get();
            socket.send(new ServerEvent.Reply(requestId, last.status(), last.body()));
            return;
        }
        session.sequence = request.sequence();
        session.lastRequestId = request.requestId();
        session.lastReply = Optional.empty();
        run(socket, session, requestId, request.payload());
    }

    /** The session itself while the daemon still keeps it. */
    private Optional<? extends ControlSession> current(ControlSession session) {
        return switch (session) {
            case ControlSession.Mcp mcp -> Optional.ofNullable(mcps.get(mcp.id)).filter(kept -> kept == mcp);
            case ControlSession.Worker worker ->
                Optional.ofNullable(workers.get(worker.id)).filter(kept -> kept == worker);
        };
    }

    private static Optional<ControlFailure> misfit(ControlSession session, SessionPayload payload) {
        boolean mcp = session instanceof ControlSession.Mcp;
        return switch (payload) {
            case SessionPayload.Ready ready ->
                !mcp && ready.workerId().equals(session.id)
                        ? Optional.empty()
                        : Optional.of(ControlFailure.unauthorized("the session belongs to another worker"));
            case SessionPayload.ReportPlugins _ ->
                mcp
                        ? Optional.of(ControlFailure.unauthorized("a worker's command on an MCP session"))
                        : Optional.empty();
            case SessionPayload.Release _ -> mcpOnly(mcp);
            case SessionPayload.ActivationFailed failed -> activationId(mcp, failed.activationId());
            case SessionPayload.CancelActivation cancel -> activationId(mcp, cancel.activationId());
        };
    }

    private static Optional<ControlFailure> mcpOnly(boolean mcp) {
        return mcp
                ? Optional.empty()
                : Optional.of(ControlFailure.unauthorized("an MCP session's command on a worker's session"));
    }

    private static Optional<ControlFailure> activationId(boolean mcp, String id) {
        return id.isEmpty() || id.length() > MAX_ACTIVATION_ID
                ? Optional.of(ControlFailure.of(FailureKind.INVALID_ARGUMENT, "activation_id must have 1 to 128 bytes"))
                : mcpOnly(mcp);
    }

    private void run(ControlSocket socket, ControlSession session, String requestId, SessionPayload payload) {
        switch (payload) {
            case SessionPayload.Release _ -> {
                Outcome<Void> outcome = broker.releaseMcp(session.id, now());
                mcps.remove(session.id);
                succeed(socket, session, requestId, new ReplyBody.Empty());
                apply(outcome.transitions());
            }
            case SessionPayload.ActivationFailed failed ->
                finish(
                        socket,
                        session,
                        requestId,
                        broker.activationFailed(
                                session.id,
                                failed.activationId(),
                                failed.reason().word(),
                                now()));
            case SessionPayload.CancelActivation cancel -> {
                switch (broker.cancelActivation(session.id, cancel.activationId(), now())) {
                    case Outcome.Accepted<org.nemorelay.protocol.control.CancelOutcome> accepted -> {
                        succeed(socket, session, requestId, new ReplyBody.ActivationCancelled(accepted.value()));
                        apply(accepted.transitions());
                    }
                    case Outcome.Refused<org.nemorelay.protocol.control.CancelOutcome> refused ->
                        fail(socket, session, requestId, ControlFailure.of(refused.refusal()));
                }
            }
            case SessionPayload.ReportPlugins report -> {
                ((ControlSession.Worker) session).plugins = report.plugins();
                succeed(socket, session, requestId, new ReplyBody.Empty());
            }
            case SessionPayload.Ready _ -> ready(socket, (ControlSession.Worker) session, requestId);
        }
    }

    // ---- readiness: probe, state, publication (relay-daemon 5.7)

    private void ready(ControlSocket socket, ControlSession.Worker worker, String requestId) {
        Permit permit = worker.permit;
        if (broker.publishable(permit) instanceof Outcome.Refused<Optional<Generation>> refused) {
            fail(socket, worker, requestId, ControlFailure.of(refused.refusal()));
            return;
        }
        probe.ready(worker.route, worker.dataToken)
                .whenComplete((ok, failure) -> post(
                        () -> probed(socket, worker, requestId, permit, failure == null && Boolean.TRUE.equals(ok))));
    }

    private void probed(
            ControlSocket socket, ControlSession.Worker worker, String requestId, Permit permit, boolean ok) {
        if (!ok) {
            boolean published = broker.workers().stream()
                    .anyMatch(status -> status.workerId().equals(worker.id));
            log.log(
                    Level.WARN,
                    TransitionLog.TARGET,
                    "worker_readiness_failed",
                    "Worker did not answer its readiness probe",
                    "fingerprint",
                    worker.fingerprint,
                    "worker_id",
                    worker.id,
                    "error_kind",
                    FailureKind.UPSTREAM.word(),
                    "route_mode",
                    published ? "recovering" : "pass_through");
            fail(
                    socket,
                    worker,
                    requestId,
                    ControlFailure.of(FailureKind.UPSTREAM, "the worker did not answer its probe with 204"));
            accepted(broker.probeFailed(permit, now()));
            return;
        }
        switch (broker.publishable(permit)) {
            case Outcome.Refused<Optional<Generation>> refused ->
                superseded(socket, worker, requestId, refused.refusal());
            case Outcome.Accepted<Optional<Generation>> accepted ->
                accepted.value()
                        .ifPresentOrElse(
                                generation -> write(socket, worker, requestId, permit, generation),
                                () -> publish(socket, worker, requestId, permit));
        }
    }

    private void write(
            ControlSocket socket,
            ControlSession.Worker worker,
            String requestId,
            Permit permit,
            Generation generation) {
        var record = new org.nemorelay.identity.Generation(
                worker.fingerprint, generation.generationId(), generation.activationId());
        state.publish(record)
                .whenComplete((previous, failure) -> post(() -> {
                    if (failure != null) {
                        stateFailed("worker_generation_publication_failed", worker.fingerprint, failure);
                        fail(
                                socket,
                                worker,
                                requestId,
                                ControlFailure.of(FailureKind.INTERNAL, "the worker's generation could not be saved"));
                        accepted(broker.probeFailed(permit, now()));
                    } else if (!publish(socket, worker, requestId, permit)) {
                        state.restore(record, previous).exceptionally(restore -> {
                            stateFailed("worker_generation_restore_failed", worker.fingerprint, restore);
                            return false;
                        });
                    }
                }));
    }

    private boolean publish(ControlSocket socket, ControlSession.Worker worker, String requestId, Permit permit) {
        return switch (broker.publish(permit, now())) {
            case Outcome.Refused<Void> refused -> {
                superseded(socket, worker, requestId, refused.refusal());
                yield false;
            }
            case Outcome.Accepted<Void> accepted -> {
                succeed(socket, worker, requestId, new ReplyBody.Empty());
                apply(accepted.transitions());
                yield true;
            }
        };
    }

    private void superseded(ControlSocket socket, ControlSession.Worker worker, String requestId, Refusal refusal) {
        fail(
                socket,
                worker,
                requestId,
                refusal == Refusal.DRAINING
                        ? ControlFailure.of(refusal)
                        : ControlFailure.unauthorized(refusal.message()));
    }

    // ---- transitions

    private <T> void accepted(Outcome<T> outcome) {
        apply(outcome.transitions());
    }

    private void apply(List<Transition> transitions) {
        for (Transition transition : transitions) {
            transitionLog.write(transition);
            switch (transition) {
                case Transition.DirectiveChanged changed -> {
                    ControlSession.Mcp session = mcps.get(changed.sessionId());
                    if (session != null) {
                        push(session, new ServerEvent.DirectiveIssued(ids.uuid7(), changed.directive()), () -> {});
                    }
                }
                case Transition.McpRemoved removed -> mcps.remove(removed.sessionId());
                case Transition.ActivationCancelled cancelled ->
                    cancelled.stagedWorkerId().ifPresent(id -> removeWorker(id, "activation_cancelled"));
                case Transition.ActivationFailed failed ->
                    failed.stagedWorkerId().ifPresent(id -> removeWorker(id, "activation_failed"));
                case Transition.CommunicationFailed failed ->
                    Optional.ofNullable(workers.get(failed.workerId()))
                            .flatMap(worker -> worker.socket)
                            .ifPresent(socket -> socket.drop("worker_communication_failed"));
                case Transition.WorkerLost lost -> {
                    removeWorker(lost.workerId(), "worker_communication_failed");
                    revoke(lost.fingerprint(), lost.generationId());
                }
                case Transition.WorkerRemoved removed -> {
                    removeWorker(removed.workerId(), "peer_closed");
                    revoke(removed.fingerprint(), removed.generationId());
                }
                case Transition.RecoveryExpired expired -> revoke(expired.fingerprint(), expired.generationId());
                case Transition.DrainBegan began -> {
                    ControlSession.Worker worker = workers.get(began.workerId());
                    if (worker != null) {
                        worker.drainDeadline = Optional.of(began.deadlineMs());
                        drain(worker);
                    }
                }
                case Transition.RouteChanged _,
                        Transition.McpAdded _,
                        Transition.LaunchNominated _,
                        Transition.StartupPending _,
                        Transition.WorkerStaged _,
                        Transition.WorkerPublished _,
                        Transition.TokenReleased _,
                        Transition.RouteEvicted _ -> {}
            }
        }
    }

    private void drain(ControlSession.Worker worker) {
        long left = Math.max(0, worker.drainDeadline.orElseThrow() - now());
        push(
                worker,
                new ServerEvent.Drain(ids.uuid7(), worker.id, clock.unixMs() + left, left),
                () -> accepted(broker.drainAcknowledged(worker.id, now())));
    }

    private void removeWorker(String workerId, String reason) {
        workerRoutes.remove(workerId);
        ControlSession.Worker worker = workers.remove(workerId);
        if (worker != null) {
            worker.socket.ifPresent(socket -> socket.drop(reason));
        }
    }

    private void revoke(Fingerprint fingerprint, String generationId) {
        state.revoke(fingerprint, generationId).exceptionally(failure -> {
            stateFailed("worker_generation_revocation_failed", fingerprint, failure);
            return false;
        });
    }

    private void stateFailed(String event, Fingerprint fingerprint, Throwable failure) {
        Throwable cause = failure.getCause() instanceof RelayException relay ? relay : failure;
        log.log(
                Level.ERROR,
                TransitionLog.TARGET,
                event,
                "State of a worker could not be saved: " + cause.getMessage(),
                "fingerprint",
                fingerprint,
                "error_kind",
                FailureKind.STATE.word());
    }

    /** Sends what must be acknowledged; without a socket it is sent when the session registers again. */
    private void push(ControlSession session, ServerEvent event, Runnable acknowledged) {
        session.socket.filter(ControlSocket::open).ifPresent(socket -> {
            socket.unacknowledged.put(event.requestId(), acknowledged);
            socket.send(event);
            after(ACKNOWLEDGEMENT_MS, () -> {
                if (socket.open() && socket.unacknowledged.containsKey(event.requestId())) {
                    socket.drop("acknowledgement_timeout");
                }
            });
        });
    }

    private void ping(ControlSocket socket) {
        if (!socket.open()) {
            return;
        }
        ByteBuffer payload = ByteBuffer.wrap(ids.octets(PING_BYTES).bytes());
        socket.awaitedPong = payload;
        socket.ping(payload);
        after(PONG_MS, () -> {
            if (socket.open() && payload.equals(socket.awaitedPong)) {
                socket.drop("pong_timeout");
            }
        });
    }

    // ---- replies

    private static void refuse(ControlSocket socket, String requestId, ControlFailure failure) {
        socket.send(failure.reply(requestId));
    }

    private void finish(ControlSocket socket, ControlSession session, String requestId, Outcome<Void> outcome) {
        switch (outcome) {
            case Outcome.Accepted<Void> _ -> succeed(socket, session, requestId, new ReplyBody.Empty());
            case Outcome.Refused<Void> refused ->
                fail(socket, session, requestId, ControlFailure.of(refused.refusal()));
        }
        apply(outcome.transitions());
    }

    private static void succeed(ControlSocket socket, ControlSession session, String requestId, ReplyBody body) {
        reply(socket, session, new ServerEvent.Reply(requestId, body instanceof ReplyBody.Empty ? 204 : 200, body));
    }

    private static void fail(ControlSocket socket, ControlSession session, String requestId, ControlFailure failure) {
        reply(socket, session, failure.reply(requestId));
    }

    private static void reply(ControlSocket socket, ControlSession session, ServerEvent.Reply reply) {
        if (session.socket.filter(current -> current == socket).isPresent()) {
            session.lastReply = Optional.of(reply);
        }
        socket.send(reply);
    }

    // ---- the control thread

    private long now() {
        return clock.monotonicMs();
    }

    private void post(Runnable task) {
        try {
            control.execute(() -> step(task));
        } catch (RejectedExecutionException e) {
            // The daemon is stopping: sockets and state go with it.
        }
    }

    private void after(long delayMs, Runnable task) {
        control.schedule(() -> step(task), delayMs, TimeUnit.MILLISECONDS);
    }

    private <T> T ask(Callable<T> question) {
        Future<T> answer = control.submit(question);
        try {
            return answer.get(QUESTION_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new RelayException(FailureKind.TIMEOUT, "the daemon's control thread does not answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RelayException(FailureKind.UNAVAILABLE, "the daemon is stopping", e);
        }
    }

    /** One task, then whatever the broker has due. A bug in one task ends neither the thread nor its other tasks. */
    private void step(Runnable task) {
        try {
            task.run();
            apply(broker.advance(grants, now()));
            long next = broker.nextWakeAt();
            if (next != wakeAt) {
                wakeAt = next;
                if (wake != null) {
                    wake.cancel(false);
                }
                if (next != Long.MAX_VALUE) {
                    wake = control.schedule(
                            () -> {
                                wakeAt = Long.MAX_VALUE;
                                step(() -> {});
                            },
                            Math.max(0, next - now()),
                            TimeUnit.MILLISECONDS);
                }
            }
        } catch (RejectedExecutionException e) {
            // The daemon is stopping.
        } catch (RuntimeException e) {
            log.log(
                    Level.ERROR,
                    TransitionLog.TARGET,
                    "worker_maintenance_failed",
                    "A control task failed: " + e,
                    "error_kind",
                    FailureKind.INTERNAL.word());
        }
    }

    /** Drops every socket and ends the control thread. */
    @Override
    public void close() {
        stopping = true;
        try {
            control.submit(() -> List.copyOf(sockets).forEach(socket -> socket.drop("peer_closed")))
                    .get(QUESTION_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            // The process ends anyway.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        control.shutdownNow();
        try {
            control.awaitTermination(QUESTION_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
