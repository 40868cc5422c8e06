package org.nemorelay.daemon.internal;

import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/** Who is authenticated, on which socket, and what they are told. All but {@link #route} belongs to the control thread. */
final class Sessions {
    private static final long ACKNOWLEDGEMENT_MS = 5_000;
    static final long PING_MS = 30_000;
    private static final long PONG_MS = 10_000;
    private static final int PING_BYTES = 16;

    private final ControlThread thread;
    private final Ids ids;
    private final Clock clock;
    private final EventLog log;
    private final Consumer<ControlSession.Worker> drainAcknowledged;
    private final ConcurrentHashMap<String, WorkerRoute> workerRoutes = new ConcurrentHashMap<>();

    final Map<String, ControlSession.Mcp> mcps = new HashMap<>();
    final Map<String, ControlSession.Worker> workers = new HashMap<>();

    Sessions(
            ControlThread thread,
            Ids ids,
            Clock clock,
            EventLog log,
            Consumer<ControlSession.Worker> drainAcknowledged) {
        this.thread = thread;
        this.ids = ids;
        this.clock = clock;
        this.log = log;
        this.drainAcknowledged = drainAcknowledged;
    }

    /** How to reach a worker; nothing when it has just gone. Any thread. */
    Optional<WorkerRoute> route(String workerId) {
        return Optional.ofNullable(workerRoutes.get(workerId));
    }

    /** The session of a worker that registered, new or known. */
    ControlSession.Worker worker(String workerId, Supplier<ControlSession.Worker> unknown) {
        ControlSession.Worker session = workers.computeIfAbsent(workerId, id -> unknown.get());
        workerRoutes.put(workerId, session.route);
        return session;
    }

    /** The session itself while the daemon still keeps it. */
    Optional<? extends ControlSession> current(ControlSession session) {
        return switch (session) {
            case ControlSession.Mcp mcp -> Optional.ofNullable(mcps.get(mcp.id)).filter(kept -> kept == mcp);
            case ControlSession.Worker worker -> current(worker);
        };
    }

    Optional<ControlSession.Worker> current(ControlSession.Worker session) {
        return Optional.ofNullable(workers.get(session.id)).filter(kept -> kept == session);
    }

    /** Whether the worker has a control connection. */
    boolean connected(String workerId) {
        ControlSession.Worker worker = workers.get(workerId);
        return worker != null && worker.socket.isPresent();
    }

    /** The socket is the session's from now on; one that it had before is dropped. */
    void authenticate(ControlSocket socket, ControlSession session) {
        Optional<ControlSocket> previous = session.socket;
        session.socket = Optional.of(socket);
        session.sequence = 0;
        session.lastRequestId = "";
        session.lastReply = Optional.empty();
        socket.session = session;
        previous.ifPresent(old -> old.drop("connection_replaced"));
        if (!socket.loopback()) {
            thread.after(PING_MS, () -> ping(socket));
        }
    }

    void connected(ControlSession session, String event, String idField, String who) {
        log.log(
                Level.INFO,
                TransitionLog.TARGET,
                event + (session.connectedBefore ? "_reconnected" : "_connected"),
                who + " control connection " + (session.connectedBefore ? "re-established" : "established"),
                idField,
                session.id);
        session.connectedBefore = true;
    }

    /** Tells the worker to drain, with the time that it has left. */
    void drain(ControlSession.Worker worker) {
        long left = Math.max(0, worker.drainDeadline.orElseThrow() - thread.now());
        push(
                worker,
                new ServerEvent.Drain(ids.uuid7(), worker.id, clock.unixMs() + left, left),
                () -> drainAcknowledged.accept(worker));
    }

    /** What is wrong with a user's worker, for those of the user's sessions that understand it. */
    void tellUnreachable(Fingerprint fingerprint, String endpoint, String reason) {
        for (ControlSession.Mcp session : mcps.values()) {
            if (session.peer && session.fingerprint.equals(fingerprint)) {
                session.socket
                        .filter(ControlSocket::open)
                        .ifPresent(socket ->
                                socket.send(new ServerEvent.WorkerUnreachable(ids.uuid7(), endpoint, reason)));
            }
        }
    }

    void removeWorker(String workerId, String reason) {
        workerRoutes.remove(workerId);
        ControlSession.Worker worker = workers.remove(workerId);
        if (worker != null) {
            worker.socket.ifPresent(socket -> socket.drop(reason));
        }
    }

    /** Sends what must be acknowledged; without a socket it is sent when the session registers again. */
    void push(ControlSession session, ServerEvent event, Runnable acknowledged) {
        session.socket.filter(ControlSocket::open).ifPresent(socket -> {
            socket.unacknowledged.put(event.requestId(), acknowledged);
            socket.send(event);
            thread.after(ACKNOWLEDGEMENT_MS, () -> {
                if (socket.open() && socket.unacknowledged.containsKey(event.requestId())) {
                    socket.drop("acknowledgement_timeout");
                }
            });
        });
    }

    void ping(ControlSocket socket) {
        if (!socket.open()) {
            return;
        }
        ByteBuffer payload = ByteBuffer.wrap(ids.octets(PING_BYTES).bytes());
        socket.awaitedPong = payload;
        socket.ping(payload);
        thread.after(PONG_MS, () -> {
            if (socket.open() && payload.equals(socket.awaitedPong)) {
                socket.drop("pong_timeout");
            }
        });
    }
}
