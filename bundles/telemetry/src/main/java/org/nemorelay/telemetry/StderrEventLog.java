package org.nemorelay.telemetry;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Objects;

/**
 * The event log of a process on its standard error, one line per event (plugins 3).
 *
 * <p>Synchronous, for short-lived processes: a line is written before {@link #log} returns. Asynchronous, for the roles:
 * a bounded queue and one thread of its own, so that a reader that stops reading standard error delays nobody; lines
 * that find the queue full are counted, and the next line that is written says how many are missing.
 */
public final class StderrEventLog implements EventLog, AutoCloseable {
    /** How long {@link #flush} and {@link #close} wait for a reader that has stopped reading. */
    static final long FLUSH_MILLIS = 2_000;

    private static final String TARGET = "nemo_relay.logging";

    private final OutputStream out;
    private final LogLine line = new LogLine(LogLine.newRootId());
    private final int capacity;
    private final Thread writer;

    private volatile LogSettings settings;

    // All below: guarded by `queue`.
    private final ArrayDeque<String> queue = new ArrayDeque<>();
    private boolean writing;
    private boolean closed;
    private long dropped;

    private StderrEventLog(LogSettings settings, OutputStream out, int capacity) {
        this.settings = Objects.requireNonNull(settings);
        this.out = out;
        this.capacity = capacity;
        this.writer = capacity == 0 ? null : new Thread(this::writeQueue, "nemo-relay-log");
        if (writer != null) {
            writer.setDaemon(true);
            writer.start();
        }
    }

    /** A log that writes before it returns. */
    public static StderrEventLog synchronous(LogSettings settings) {
        return synchronous(settings, new FileOutputStream(FileDescriptor.err));
    }

    /** A log that holds at most 4,096 lines for its own thread to write. */
    public static StderrEventLog asynchronous(LogSettings settings) {
        return asynchronous(settings, new FileOutputStream(FileDescriptor.err), 4_096);
    }

    /** A log that writes to {@code out} before it returns. */
    public static StderrEventLog synchronous(LogSettings settings, OutputStream out) {
        return new StderrEventLog(settings, out, 0);
    }

    static StderrEventLog asynchronous(LogSettings settings, OutputStream out, int capacity) {
        return new StderrEventLog(settings, out, capacity);
    }

    /** From the next event on, these settings hold. */
    public void configure(LogSettings next) {
        settings = Objects.requireNonNull(next);
    }

    @Override
    public boolean enabled(Level level) {
        return level.compareTo(settings.level()) <= 0;
    }

    @Override
    public void log(Level level, String target, String event, String message, Object... fields) {
        LogSettings current = settings;
        if (level.compareTo(current.level()) > 0) {
            return;
        }
        String text;
        try {
            text = line.format(current.format(), Instant.now(), level, target, event, message, fields);
        } catch (RuntimeException e) {
            return; // A log that throws would take its caller's request with it.
        }
        if (writer == null) {
            synchronized (queue) {
                write(text);
            }
            return;
        }
        synchronized (queue) {
            if (closed) {
                write(text);
            } else if (queue.size() < capacity) {
                queue.add(text);
                queue.notifyAll();
            } else {
                dropped++;
            }
        }
    }

    /** Waits until what was logged is written, two seconds at most. */
    @Override
    public void flush() {
        if (writer == null || Thread.currentThread() == writer) {
            return;
        }
        long deadline = System.nanoTime() + FLUSH_MILLIS * 1_000_000;
        synchronized (queue) {
            while (writing || !queue.isEmpty()) {
                long millis = (deadline - System.nanoTime()) / 1_000_000;
                if (millis <= 0) {
                    return;
                }
                try {
                    queue.wait(millis);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    return;
                }
            }
        }
    }

    /** Writes what is queued and ends the thread; later events are written at once. */
    @Override
    public void close() {
        flush();
        synchronized (queue) {
            closed = true;
            queue.notifyAll();
        }
    }

    private void writeQueue() {
        while (true) {
            StringBuilder batch = new StringBuilder();
            synchronized (queue) {
                writing = false;
                queue.notifyAll();
                while (queue.isEmpty()) {
                    if (closed) {
                        return;
                    }
                    try {
                        queue.wait();
                    } catch (InterruptedException e) {
                        return; // Nobody interrupts this thread but a process that is ending.
                    }
                }
                // A pipe takes up to 4 KiB in one piece, so lines of several processes do not mix.
                while (!queue.isEmpty()
                        && (batch.isEmpty() || batch.length() + queue.peek().length() <= 2_048)) {
                    batch.append(queue.remove());
                }
                if (dropped > 0) {
                    batch.append(line.format(
                            settings.format(),
                            Instant.now(),
                            Level.WARN,
                            TARGET,
                            "log_events_dropped",
                            "Log events were dropped because standard error was not read in time",
                            new Object[] {"dropped", dropped}));
                    dropped = 0;
                }
                writing = true;
            }
            write(batch.toString());
        }
    }

    private void write(String text) {
        try {
            out.write(text.getBytes(StandardCharsets.UTF_8));
            out.flush();
        } catch (IOException e) {
            // Nobody reads standard error any more; the process goes on without it.
        }
    }
}
