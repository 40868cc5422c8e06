package org.nemorelay.daemon.internal;

import java.util.Optional;
import org.nemorelay.broker.Broker;
import org.nemorelay.broker.Outcome;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SessionRequest;

/** Commands of authenticated sessions, in the order of their sequence numbers (relay-daemon 3.5). Control thread. */
final class SessionCommands {
    private static final int MAX_ACTIVATION_ID = 128;

    private final Broker broker;
    private final ControlThread thread;
    private final Sessions sessions;
    private final Effects effects;
    private final Publications publications;
    private final PluginReports plugins;

    SessionCommands(
            Broker broker,
            ControlThread thread,
            Sessions sessions,
            Effects effects,
            Publications publications,
            PluginReports plugins) {
        this.broker = broker;
        this.thread = thread;
        this.sessions = sessions;
        this.effects = effects;
        this.publications = publications;
        this.plugins = plugins;
    }

    void acknowledge(ControlSocket socket, String requestId, String acknowledged) {
        if (socket.session == null) {
            Replies.refuse(socket, requestId, ControlFailure.unauthorized("the socket is not authenticated"));
            return;
        }
        Runnable action = socket.unacknowledged.remove(acknowledged);
        if (action == null && !acknowledged.equals(socket.lastAcknowledged)) {
            Replies.refuse(
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

    void received(ControlSocket socket, String requestId, SessionRequest request) {
        Optional<ControlFailure> invalid = invalid(request.payload());
        if (invalid.isPresent()) {
            Replies.refuse(socket, requestId, invalid.get());
            return;
        }
        ControlSession session = socket.session;
        if (session == null
                || session.socket.filter(current -> current == socket).isEmpty()
                || !session.id.equals(request.sessionId())
                || !session.token.equals(request.sessionToken())
                || sessions.current(session).isEmpty()) {
            Replies.refuse(
                    socket, requestId, ControlFailure.unauthorized("the session is not authenticated on this socket"));
            return;
        }
        Optional<ControlFailure> misfit = misfit(session, request.payload());
        if (misfit.isPresent()) {
            Replies.refuse(socket, requestId, misfit.get());
            return;
        }
        if (!request.intact()) {
            Replies.refuse(socket, requestId, ControlFailure.unauthorized("the hash does not cover the payload"));
            return;
        }
        boolean duplicate =
                request.sequence() == session.sequence && request.requestId().equals(session.lastRequestId);
        if (!duplicate && request.sequence() != session.sequence + 1) {
            Replies.refuse(
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

    private static Optional<ControlFailure> misfit(ControlSession session, SessionPayload payload) {
        boolean mcp = session instanceof ControlSession.Mcp;
        return switch (payload) {
            case SessionPayload.Ready ready ->
                !mcp && ready.workerId().equals(session.id)
                        ? Optional.empty()
                        : Optional.of(ControlFailure.unauthorized("the session belongs to another worker"));
            case SessionPayload.ReportPlugins _, SessionPayload.Leave _ ->
                mcp
                        ? Optional.of(ControlFailure.unauthorized("a worker's command on an MCP session"))
                        : Optional.empty();
            case SessionPayload.Release _, SessionPayload.ActivationFailed _, SessionPayload.CancelActivation _ ->
                mcp
                        ? Optional.empty()
                        : Optional.of(ControlFailure.unauthorized("an MCP session's command on a worker's session"));
        };
    }

    /** What no session may ask: told before it is looked who asks. */
    private static Optional<ControlFailure> invalid(SessionPayload payload) {
        String id = switch (payload) {
            case SessionPayload.ActivationFailed failed -> failed.activationId();
            case SessionPayload.CancelActivation cancel -> cancel.activationId();
            case SessionPayload.Ready _,
                    SessionPayload.Release _,
                    SessionPayload.Leave _,
                    SessionPayload.ReportPlugins _ -> "none";
        };
        return id.isEmpty() || id.length() > MAX_ACTIVATION_ID
                ? Optional.of(ControlFailure.of(FailureKind.INVALID_ARGUMENT, "activation_id must have 1 to 128 bytes"))
                : Optional.empty();
    }

    private void run(ControlSocket socket, ControlSession session, String requestId, SessionPayload payload) {
        switch (payload) {
            case SessionPayload.Release _ -> {
                Outcome<Void> outcome = broker.releaseMcp(session.id, thread.now());
                sessions.mcps.remove(session.id);
                Replies.succeed(socket, session, requestId, new ReplyBody.Empty());
                effects.apply(outcome.transitions());
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
                                thread.now()));
            case SessionPayload.CancelActivation cancel -> {
                switch (broker.cancelActivation(session.id, cancel.activationId(), thread.now())) {
                    case Outcome.Accepted<org.nemorelay.protocol.control.CancelOutcome> accepted -> {
                        Replies.succeed(
                                socket, session, requestId, new ReplyBody.ActivationCancelled(accepted.value()));
                        effects.apply(accepted.transitions());
                    }
                    case Outcome.Refused<org.nemorelay.protocol.control.CancelOutcome> refused ->
                        Replies.fail(socket, session, requestId, ControlFailure.of(refused.refusal()));
                }
            }
            case SessionPayload.ReportPlugins report -> {
                plugins.said((ControlSession.Worker) session, report.plugins(), report.settings());
                Replies.succeed(socket, session, requestId, new ReplyBody.Empty());
            }
            case SessionPayload.Leave _ ->
                finish(
                        socket,
                        session,
                        requestId,
                        broker.workerLeaves(((ControlSession.Worker) session).permit, thread.now()));
            case SessionPayload.Ready _ -> publications.ready(socket, (ControlSession.Worker) session, requestId);
        }
    }

    private void finish(ControlSocket socket, ControlSession session, String requestId, Outcome<Void> outcome) {
        switch (outcome) {
            case Outcome.Accepted<Void> _ -> Replies.succeed(socket, session, requestId, new ReplyBody.Empty());
            case Outcome.Refused<Void> refused ->
                Replies.fail(socket, session, requestId, ControlFailure.of(refused.refusal()));
        }
        effects.apply(outcome.transitions());
    }
}
