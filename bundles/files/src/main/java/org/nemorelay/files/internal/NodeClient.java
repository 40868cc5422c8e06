package org.nemorelay.files.internal;

import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.ByteChannel;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.dial.WorkerDialers;

/**
 * HTTP with one node. Each node has a client of its own: connections that wait for their next request are the node's, not
 * an address's, which two nodes may share. Safe for any thread.
 */
public final class NodeClient {
    private static final int IDLE = 4;
    private static final Duration STILL = Duration.ofSeconds(60);

    /** One request; may be run again on another connection. */
    public interface Exchange<R> {
        /** Writes the request and reads the answer. What is left of the connection can take the next request. */
        R run(Wire wire, Watchdog watchdog) throws IOException;
    }

    /** The transport failed; whether a request arrived is not known. */
    public static final class Broken extends Exception {
        private static final long serialVersionUID = 1L;

        Broken(String message, IOException cause) {
            super(message, cause);
        }
    }

    private record Idle(ByteChannel channel, Wire wire, Pulses pulses) {}

    /** A connection outlives the watchdog of one request. */
    private static final class Pulses implements Wire.Pulse {
        private volatile Wire.Pulse now = () -> {};

        @Override
        public void beat() {
            now.beat();
        }
    }

    private final String nodeId;
    private final WorkerDialers.Dialer dialer;
    private final Deque<Idle> idle = new ArrayDeque<>();
    private boolean closed;

    public NodeClient(String nodeId, WorkerDialers.Dialer dialer) {
        this.nodeId = nodeId;
        this.dialer = dialer;
    }

    public boolean direct() {
        return dialer.direct();
    }

    /**
     * @param address what the dialer is handed
     * @throws UnreachableException when the node cannot be dialled
     */
    public <R> R run(Context context, String address, Exchange<R> exchange) throws Broken {
        context.check("file request to node " + nodeId);
        Optional<Idle> waiting = take();
        if (waiting.isPresent()) {
            try {
                return on(context, waiting.get(), exchange);
            } catch (Broken e) {
                // It had been closed while it waited, or breaks again now.
                context.check("file request to node " + nodeId);
            }
        }
        Pulses pulses = new Pulses();
        ByteChannel channel = dialer.dial(context, address);
        return on(context, new Idle(channel, new Wire(channel, pulses), pulses), exchange);
    }

    private <R> R on(Context context, Idle connection, Exchange<R> exchange) throws Broken {
        ByteChannel channel = connection.channel();
        boolean whole = false;
        Duration limit = context.remainingWithin(STILL);
        try (Watchdog watchdog = new Watchdog(channel, limit);
                Deadline _ = new Deadline(context, channel);
                Registration _ = context.onCancel(() -> Watchdog.quietly(channel))) {
            connection.pulses().now = watchdog;
            R result = exchange.run(connection.wire(), watchdog);
            whole = true;
            return result;
        } catch (IOException e) {
            if (context.cancelled()) {
                throw new CancelledException("file request to node " + nodeId + ": cancelled by the caller");
            }
            if (context.expired()) {
                throw new TimedOutException("file request to node " + nodeId + ": no answer within the deadline");
            }
            throw new Broken("the connection to node " + nodeId + " broke: " + e.getMessage(), e);
        } finally {
            connection.pulses().now = () -> {};
            if (!whole || !give(connection)) {
                Watchdog.quietly(channel);
            }
        }
    }

    private synchronized Optional<Idle> take() {
        return Optional.ofNullable(idle.pollLast());
    }

    private synchronized boolean give(Idle connection) {
        if (closed || idle.size() >= IDLE || !connection.wire().open()) {
            return false;
        }
        idle.add(connection);
        return true;
    }

    public synchronized void close() {
        closed = true;
        idle.forEach(connection -> Watchdog.quietly(connection.channel()));
        idle.clear();
    }

    /** The answer's head, past interim ones. */
    public static Wire.Head answer(Wire wire) throws IOException {
        Wire.Head head = head(wire);
        while (head.first().get(1).startsWith("1")) {
            head = head(wire);
        }
        return head;
    }

    /** The next head of an answer, also an interim one. */
    public static Wire.Head head(Wire wire) throws IOException {
        Wire.Head head = wire.head().orElseThrow(() -> new EOFException("it was closed before the answer"));
        if (head.first().size() < 2 || !head.first().get(1).matches("\\d{3}")) {
            throw new IOException("the answer is not HTTP");
        }
        return head;
    }

    /** Closes a connection at the context's deadline. */
    private static final class Deadline implements AutoCloseable {
        private final Optional<Thread> timer;

        private Deadline(Context context, ByteChannel channel) {
            timer = context.remaining()
                    .map(left -> Thread.ofVirtual().start(() -> {
                        try {
                            Thread.sleep(left.isNegative() ? Duration.ZERO : left);
                            Watchdog.quietly(channel);
                        } catch (InterruptedException e) {
                            // In time.
                        }
                    }));
        }

        @Override
        public void close() {
            timer.ifPresent(Thread::interrupt);
        }
    }
}
