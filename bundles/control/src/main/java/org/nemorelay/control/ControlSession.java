package org.nemorelay.control;

import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.nemorelay.control.internal.WebSocket;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.FrameException;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SessionRequest;

/**
 * One authenticated connection to a daemon (relay-daemon 3.4 to 3.8). Its own thread reads, acknowledges and tells the
 * listener; requests may come from any thread and wait for their reply. Made by {@link ControlClient}.
 */
public final class ControlSession implements AutoCloseable {
    /** How long a request waits for its reply where its caller does not say. */
    public static final long REQUEST_TIMEOUT_MS = 5_000;

    private final WebSocket socket;
    private final Ids ids;
    private final String sessionId;
    private final ControlListener listener;
    private final Map<String, Pending> pending = new HashMap<>();

    // Written once, before the registration returns.
    private volatile Descriptor daemon;
    private volatile Secret sessionToken;

    /** Held while a command is sent, so that sequence numbers leave in their order. */
    private final ReentrantLock order = new ReentrantLock();

    // Guarded by `order`.
    private long sequence;

    // Guarded by `pending`, like the map.
    private boolean ended;

    ControlSession(WebSocket socket, Ids ids, String sessionId, ControlListener listener) {
        this.socket = socket;
        this.ids = ids;
        this.sessionId = sessionId;
        this.listener = listener;
    }

    void start() {
        Thread reader = new Thread(this::readAll, "nemo-relay-control");
        reader.setDaemon(true);
        reader.start();
    }

    void authenticated(Descriptor daemon, Secret sessionToken) {
        this.daemon = daemon;
        this.sessionToken = sessionToken;
    }

    /** What the daemon says about itself. */
    public Descriptor daemon() {
        return daemon;
    }

    /** Whether the connection still stands. */
    public boolean connected() {
        synchronized (pending) {
            return !ended;
        }
    }

    /**
     * Sends a command of this session and waits up to 5 s for its reply. A refusal is a {@link RelayException} of the
     * reply's kind; without a reply in time ({@code TIMEOUT}) or a connection ({@code UNAVAILABLE}) the session is over,
     * because nobody knows whether the daemon has counted the command.
     */
    public ReplyBody request(SessionPayload payload) {
        return request(payload, REQUEST_TIMEOUT_MS);
    }

    /** The same with another limit, for a process that is on its way out. */
    public ReplyBody request(SessionPayload payload, long timeoutMs) {
        return exchange(timeoutMs, new Making() {
            @Override
            public ClientCommand next() {
                return new ClientCommand.Session(
                        SessionRequest.of(sessionId, sessionToken, ids.id(), ++sequence, payload));
            }
        });
    }

    /** Ends the connection; the listener hears of it. */
    @Override
    public void close() {
        socket.close();
    }

    /** Sends a command outside of a session: the handshake. */
    ReplyBody command(ClientCommand command, long timeoutMs) {
        return exchange(timeoutMs, new Making() {
            @Override
            public ClientCommand next() {
                return command;
            }
        });
    }

    /** Makes the command that is sent next. No lambda: the first one of a process costs its milliseconds. */
    private interface Making {
        ClientCommand next();
    }

    private ReplyBody exchange(long timeoutMs, Making making) {
        long deadline = System.nanoTime() + timeoutMs * 1_000_000;
        Pending reply = new Pending();
        try {
            if (!order.tryLock(timeoutMs, TimeUnit.MILLISECONDS)) {
                throw late();
            }
            try {
                String requestId = ids.uuid7();
                expect(requestId, reply);
                socket.send(FrameCodec.encode(new CommandFrame(requestId, making.next())), remaining(deadline));
            } finally {
                order.unlock();
            }
        } catch (InterruptedException e) {
            throw interrupted(e);
        } catch (IOException e) {
            throw lost(e);
        }
        return await(reply, remaining(deadline));
    }

    private static long remaining(long deadline) {
        return Math.max(1, (deadline - System.nanoTime()) / 1_000_000);
    }

    private void expect(String requestId, Pending reply) {
        synchronized (pending) {
            if (ended) {
                throw new RelayException(FailureKind.UNAVAILABLE, "the control connection to the daemon is closed");
            }
            pending.put(requestId, reply);
        }
    }

    private ReplyBody await(Pending reply, long timeoutMs) {
        Optional<ServerEvent.Reply> received;
        try {
            received = reply.await(timeoutMs);
        } catch (InterruptedException e) {
            throw interrupted(e);
        }
        if (received.isEmpty()) {
            throw late();
        }
        ServerEvent.Reply answer = received.get();
        if (answer.succeeded()) {
            return answer.body();
        }
        throw refusal(answer);
    }

    private void readAll() {
        try {
            while (true) {
                Optional<String> text = socket.read();
                if (text.isEmpty()) {
                    return;
                }
                receive(FrameCodec.decodeEvent(text.get()));
            }
        } catch (IOException | FrameException e) {
            // the connection is over; what follows is the same for every reason
        } finally {
            socket.close();
            end();
            listener.disconnected();
        }
    }

    private void receive(ServerEvent event) throws IOException {
        // Tests in a row: a pattern switch costs milliseconds at its first use.
        if (event instanceof ServerEvent.Reply reply) {
            Pending waiting;
            synchronized (pending) {
                waiting = pending.remove(reply.requestId());
            }
            if (waiting != null) {
                waiting.complete(reply);
            }
        } else if (event instanceof ServerEvent.DirectiveIssued issued) {
            acknowledge(issued.requestId());
            if (!listener.directive(issued.directive())) {
                throw new IOException("more directives wait than may");
            }
        } else if (event instanceof ServerEvent.Drain drain) {
            try {
                acknowledge(drain.requestId());
            } finally {
                // It holds though the daemon may have gone since.
                listener.drain(drain);
            }
        } else if (event instanceof ServerEvent.WorkerUnreachable unreachable) {
            listener.unreachable(unreachable);
        }
    }

    private void acknowledge(String requestId) throws IOException {
        socket.send(FrameCodec.encode(new CommandFrame(ids.uuid7(), new ClientCommand.Acknowledge(requestId))));
    }

    private void end() {
        ServerEvent.Reply gone = new ServerEvent.Reply(
                "", 503, new ReplyBody.Failure("the control connection to the daemon was lost", Optional.empty()));
        synchronized (pending) {
            ended = true;
            pending.notifyAll();
            for (Pending waiting : pending.values()) {
                waiting.complete(gone);
            }
            pending.clear();
        }
    }

    private RelayException interrupted(InterruptedException e) {
        Thread.currentThread().interrupt();
        close();
        return new RelayException(FailureKind.UNAVAILABLE, "the wait for the daemon was interrupted", e);
    }

    private RelayException late() {
        close();
        return new RelayException(FailureKind.TIMEOUT, "the daemon did not answer a control command in time");
    }

    private RelayException lost(IOException e) {
        // A daemon that is gone may have said something before: the reader finds that first, and then the end.
        try {
            synchronized (pending) {
                long deadline = System.nanoTime() + REQUEST_TIMEOUT_MS * 1_000_000;
                while (!ended && deadline - System.nanoTime() > 0) {
                    pending.wait(remaining(deadline));
                }
            }
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
        close();
        return new RelayException(FailureKind.UNAVAILABLE, "the control connection to the daemon was lost", e);
    }

    /** Only a 401 with the code is a rejection of the credential; a 503 with it is not (relay-daemon 3.8). */
    private static RelayException refusal(ServerEvent.Reply reply) {
        String message = "";
        boolean coded = false;
        if (reply.body() instanceof ReplyBody.Failure failure) {
            message = failure.message();
            coded = failure.code().isPresent() && failure.code().get().equals(ReplyBody.Failure.CREDENTIAL_REJECTED);
        }
        FailureKind kind = switch (reply.status()) {
            case 400 -> FailureKind.INVALID_ARGUMENT;
            case 401 -> coded ? FailureKind.CREDENTIAL_REJECTED : FailureKind.UNAUTHORIZED;
            case 404 -> FailureKind.NOT_FOUND;
            case 409 -> FailureKind.CONFLICT;
            case 426 -> FailureKind.INCOMPATIBLE;
            case 429 -> FailureKind.LIMIT_REACHED;
            default -> FailureKind.UNAVAILABLE;
        };
        return new RelayException(kind, "the daemon refused: " + message);
    }

    /** One reply to wait for. */
    private static final class Pending {
        private ServerEvent.Reply reply;

        private synchronized void complete(ServerEvent.Reply received) {
            reply = received;
            notifyAll();
        }

        private synchronized Optional<ServerEvent.Reply> await(long timeoutMs) throws InterruptedException {
            long deadline = System.nanoTime() + timeoutMs * 1_000_000;
            while (reply == null) {
                long millis = (deadline - System.nanoTime() + 999_999) / 1_000_000;
                if (millis <= 0) {
                    return Optional.empty();
                }
                wait(millis);
            }
            return Optional.of(reply);
        }
    }
}
