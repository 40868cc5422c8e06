package org.nemorelay.telemetry;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/**
 * One place that lines go to. With a capacity, lines wait in a bounded queue for a thread of this output's own, so that a
 * reader that stops reading, or a disk that hangs, delays nobody; lines that find the queue full are counted, and the
 * next that is written says how many are missing. Without one, a line is written before {@link #add} returns.
 */
abstract class LogOutput {
    /** The line that tells how many lines are missing. */
    interface Gap {
        String line(long missing);
    }

    private final int capacity;
    private final int batchChars;
    private final Gap gap;
    private final Thread writer;

    // All below: guarded by `queue`.
    private final ArrayDeque<String> queue = new ArrayDeque<>();
    private boolean writing;
    private boolean closed;
    private boolean gapIsDue;
    private long dropped;

    /**
     * @param capacity how many lines may wait; 0 for none
     * @param batchChars how long lines may be that are written together
     */
    LogOutput(String name, int capacity, int batchChars, Gap gap) {
        this.capacity = capacity;
        this.batchChars = batchChars;
        this.gap = gap;
        this.writer = capacity == 0 ? null : new Thread(this::writeQueue, name);
    }

    /** Begins to write what is queued. */
    final void start() {
        if (writer != null) {
            writer.setDaemon(true);
            writer.start();
        }
    }

    final void add(String line) {
        synchronized (queue) {
            if (writer == null || closed) {
                write(line);
            } else if (queue.size() < capacity) {
                queue.add(line);
                queue.notifyAll();
            } else {
                dropped++;
            }
        }
    }

    /** Waits until what was added is written, or the time is over. */
    final void flush(long deadlineNanos) {
        if (writer == null || Thread.currentThread() == writer) {
            return;
        }
        synchronized (queue) {
            while (writing || !queue.isEmpty() || dropped > 0) {
                long millis = (deadlineNanos - System.nanoTime()) / 1_000_000;
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

    /** Ends the thread when the queue is written; later lines are written at once. */
    final void close() {
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
                while (queue.isEmpty() && dropped == 0) {
                    if (closed) {
                        return;
                    }
                    try {
                        queue.wait();
                    } catch (InterruptedException e) {
                        return; // Nobody interrupts this thread but a process that is ending.
                    }
                }
                if (dropped > 0 && (gapIsDue || queue.isEmpty())) {
                    batch.append(gap.line(dropped));
                    dropped = 0;
                }
                while (!queue.isEmpty()
                        && (batch.isEmpty() || batch.length() + queue.peek().length() <= batchChars)) {
                    batch.append(queue.remove());
                }
                gapIsDue = dropped > 0; // The lines that were just taken came before the missing ones.
                writing = true;
            }
            write(batch.toString());
        }
    }

    private void write(String text) {
        write(text.getBytes(StandardCharsets.UTF_8));
    }

    /** Writes whole lines; a failure is the output's own affair. Never called by two threads at a time. */
    abstract void write(byte[] lines);
}
