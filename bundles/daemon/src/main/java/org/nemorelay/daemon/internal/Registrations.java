package org.nemorelay.daemon.internal;

import java.util.Optional;
import org.nemorelay.broker.Broker;
import org.nemorelay.broker.GrantSecrets;
import org.nemorelay.broker.McpRegistration;
import org.nemorelay.broker.NetworkHint;
import org.nemorelay.broker.Outcome;
import org.nemorelay.broker.Registration;
import org.nemorelay.broker.StagedWorker;
import org.nemorelay.broker.WorkerRegistration;
import org.nemorelay.broker.WorkerSecrets;
import org.nemorelay.http.Origin;
import org.nemorelay.http.WireProtocol;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.TokenDigest;
import org.nemorelay.protocol.control.Capabilities;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Proof;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SignedTranscript;
import org.nemorelay.protocol.control.Transcript;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/** How sockets become sessions (relay-daemon 3.7): proofs are checked on the threads of the sockets, the rest on the control thread. */
final class Registrations {
    private static final int MAX_ACTIVATION_ID = 128;

    private final Broker broker;
    private final Handshake handshake;
    private final ProofDesk proofs;
    private final Ids ids;
    private final ControlThread thread;
    private final Sessions sessions;
    private final Effects effects;
    private final GrantSecrets.Source grants;
    private final EventLog log;

    Registrations(
            Broker broker,
            Handshake handshake,
            ProofDesk proofs,
            Ids ids,
            ControlThread thread,
            Sessions sessions,
            Effects effects,
            GrantSecrets.Source grants,
            EventLog log) {
        this.broker = broker;
        this.handshake = handshake;
        this.proofs = proofs;
        this.ids = ids;
        this.thread = thread;
        this.sessions = sessions;
        this.effects = effects;
        this.grants = grants;
        this.log = log;
    }

    void challenge(ControlSocket socket, String requestId, ClientCommand.Challenge challenge) {
        if (socket.challenged) {
            Replies.refuse(socket, requestId, ControlFailure.unauthorized("this socket has had its challenge"));
            return;
        }
        Handshake.Answer answer = handshake.challenge(socket.role(), challenge);
        if (answer.pending().isEmpty()) {
            Replies.refuse(socket, requestId, answer.failure().orElseThrow());
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

    void registerMcp(ControlSocket socket, String requestId, ClientCommand.RegisterMcp register) {
        Optional<ControlFailure> failure =
                prove(socket, Role.MCP, register.proof()).or(() -> handshake.problem(register));
        if (failure.isPresent()) {
            Replies.refuse(socket, requestId, failure.get());
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
        boolean peer = transcript.initiator().offers(Capabilities.PEER);
        thread.post(() -> registered(socket, requestId, proof, registration, register.credential(), peer));
    }

    void registerWorker(ControlSocket socket, String requestId, ClientCommand.RegisterWorker register) {
        Optional<ControlFailure> failure = workerProblem(socket, register.proof(), register.workerId());
        if (failure.isEmpty() && register.activationId().length() > MAX_ACTIVATION_ID) {
            failure = Optional.of(
                    ControlFailure.of(FailureKind.INVALID_ARGUMENT, "activation_id must have 1 to 128 bytes"));
        }
        if (failure.isPresent()) {
            Replies.refuse(socket, requestId, failure.get());
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
        thread.post(() -> {
            WorkerSecrets offered = new WorkerSecrets(ids.id(), ids.secret().text());
            Outcome<StagedWorker> outcome =
                    broker.stageWorker(worker, register.activationId(), token, offered, thread.now());
            staged(
                    socket,
                    requestId,
                    proof,
                    transcript,
                    worker,
                    outcome,
                    Optional.empty(),
                    "worker_registration_failed");
        });
    }

    void recoverWorker(ControlSocket socket, String requestId, ClientCommand.RecoverWorker recover) {
        Optional<ControlFailure> failure =
                workerProblem(socket, recover.proof(), recover.workerId()).or(() -> handshake.problem(recover));
        if (failure.isPresent()) {
            Replies.refuse(socket, requestId, failure.get());
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
        thread.post(() -> {
            Outcome<StagedWorker> outcome = broker.recoverWorker(
                    worker,
                    recover.generationGrant().generationId(),
                    ids.secret().text(),
                    thread.now());
            // What it presented was checked and is the same grant again.
            Optional<GenerationGrant> grant = Optional.of(recover.generationGrant());
            staged(socket, requestId, proof, transcript, worker, outcome, grant, "worker_recovery_failed");
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
            ControlSocket socket,
            String requestId,
            Proof proof,
            McpRegistration registration,
            Secret token,
            boolean peer) {
        if (!socket.open()) {
            return;
        }
        switch (broker.registerMcp(registration, grants, thread.now())) {
            case Outcome.Refused<Registration> refused -> {
                effects.apply(refused.transitions());
                Replies.refuse(socket, requestId, ControlFailure.of(refused.refusal()));
            }
            case Outcome.Accepted<Registration> accepted -> {
                proofs.remember(token); // before the session's first hook can ask
                ControlSession.Mcp session = sessions.mcps.computeIfAbsent(
                        registration.sessionId(),
                        id -> new ControlSession.Mcp(id, registration.fingerprint(), ids.secret()));
                Directive directive = accepted.value().directive();
                session.peer = peer;
                sessions.authenticate(socket, session);
                socket.send(new ServerEvent.Reply(
                        requestId, 200, new ReplyBody.McpRegistered(proof, session.token, directive)));
                sessions.push(session, new ServerEvent.DirectiveIssued(ids.uuid7(), directive), () -> {});
                effects.apply(accepted.transitions());
                sessions.connected(session, "mcp_control", "mcp_session_id", "MCP");
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
            Optional<GenerationGrant> presented,
            String failureEvent) {
        switch (outcome) {
            case Outcome.Refused<StagedWorker> refused -> {
                effects.apply(refused.transitions());
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
                Replies.refuse(socket, requestId, failure);
            }
            case Outcome.Accepted<StagedWorker> accepted -> {
                StagedWorker staged = accepted.value();
                ControlSession.Worker session = sessions.worker(
                        registration.workerId(),
                        () -> new ControlSession.Worker(
                                registration.workerId(),
                                registration.fingerprint(),
                                ids.secret(),
                                workerRoute(transcript, registration)));
                session.permit = staged.permit();
                session.dataToken = staged.dataToken();
                if (!socket.open()) {
                    effects.accepted(broker.workerDisconnected(session.permit, thread.now()));
                    return;
                }
                sessions.authenticate(socket, session);
                socket.send(new ServerEvent.Reply(
                        requestId,
                        200,
                        new ReplyBody.WorkerRegistered(
                                proof,
                                session.token,
                                new Secret(staged.dataToken()),
                                presented.orElseGet(() -> handshake.grant(
                                        staged.generationId(),
                                        session.id,
                                        registration.fingerprint(),
                                        registration.endpoint(),
                                        registration.tlsRootCertificate())))));
                effects.apply(accepted.transitions());
                sessions.connected(session, "worker_control", "worker_id", "Worker");
                staged.drainDeadlineMs().ifPresent(deadline -> {
                    session.drainDeadline = Optional.of(deadline);
                    sessions.drain(session);
                });
            }
        }
    }

    /** Between two of our own HTTP/1.1 is the faster road; a stock worker speaks HTTP/2 with prior knowledge only. */
    private static WorkerRoute workerRoute(Transcript transcript, WorkerRegistration registration) {
        Origin origin = Origin.of(registration.endpoint());
        // Over TLS the worker chooses.
        boolean http1 = origin.secure() || transcript.initiator().offers(Capabilities.PEER);
        return new WorkerRoute(
                registration.tlsRootCertificate().map(origin::vouchedBy).orElse(origin),
                http1 ? WireProtocol.HTTP_1_1 : WireProtocol.H2C);
    }
}
