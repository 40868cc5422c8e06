package org.nemorelay.worker.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Whether this process may have stood still (SIGSTOP, a machine out of breath). What the daemon said meanwhile lies in one
 * socket, the requests that it sent before in others, and a drain may be among it whose deadline has passed: so a request
 * waits until the daemon has been heard, which takes one round trip. Otherwise it costs a look at the clock. Safe for any
 * thread.
 */
final class Standstill {
    /** How often the worker's thread comes by. */
    static final long TICK_MS = 1_000;

    private static final long LIMIT_NANOS = TimeUnit.SECONDS.toNanos(3);

    /** Longer than any process lives. */
    private static final long EVER_NANOS = TimeUnit.DAYS.toNanos(10_000);

    private final LongSupplier nanos;
    private volatile long lastTick;
    private volatile boolean doubt;

    // Guarded by this.
    private final List<Runnable> waiting = new ArrayList<>();
    private Runnable asking = () -> {};
    private boolean resting;

    Standstill(LongSupplier nanos) {
        this.nanos = nanos;
        rest();
    }

    /** @param asking has the worker's thread ask the daemon and call {@link #heard} whatever comes of it; must not block */
    synchronized void ask(Runnable asking) {
        this.asking = asking;
    }

    /** Whether a request must {@link #await} before it is sent. */
    boolean doubted() {
        return doubt || overdue();
    }

    /** Runs it when the daemon has been heard, at once where it is not to be. */
    void await(Runnable task) {
        synchronized (this) {
            if (!resting) {
                waiting.add(task);
                if (!doubt) {
                    doubt = true;
                    asking.run();
                }
                return;
            }
        }
        task.run();
    }

    /** The worker's thread has come by. */
    void tick() {
        if (overdue()) {
            await(() -> {});
        } else {
            synchronized (this) {
                if (!resting) {
                    lastTick = nanos.getAsLong();
                }
            }
        }
    }

    /** What the daemon has said until now is known: what waited runs, on this thread. */
    void heard() {
        sure(nanos.getAsLong(), false);
    }

    /** The daemon cannot be heard, or will not be any more: nothing waits for it until it is {@link #heard}. */
    void rest() {
        sure(nanos.getAsLong() + EVER_NANOS, true);
    }

    private boolean overdue() {
        return nanos.getAsLong() - lastTick > LIMIT_NANOS;
    }

    private void sure(long tick, boolean rest) {
        List<Runnable> tasks;
        synchronized (this) {
            lastTick = tick;
            doubt = false;
            resting = rest;
            tasks = List.copyOf(waiting);
            waiting.clear();
        }
        tasks.forEach(Runnable::run);
    }
}
