package org.nemorelay.pipeline;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;
import org.nemorelay.telemetry.EventLog;

/**
 * The threads on which plugins' services run. All share them, because a request goes through many services and a change of
 * threads costs more than most of these do; each has a {@link Share} that it cannot exceed, so one that blocks holds up its
 * own calls and nobody else's. A call that takes too long is given up: its caller hears of it, its thread is interrupted and
 * left to the service. Safe for any thread.
 */
public final class StageThreads implements AutoCloseable {
    static final String TARGET = "nemo_relay.plugins";
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long IDLE_SECONDS = 30;

    private final EventLog log;
    private final LongSupplier nanoTime;
    private final Set<Share.Call<?>> calls = ConcurrentHashMap.newKeySet();
    private final AtomicInteger started = new AtomicInteger();
    private final Thread watch;
    private volatile ThreadPoolExecutor pool;
    private volatile boolean watching;
    private volatile boolean closed;

    /** @param nanoTime the clock of the time budgets, as {@link System#nanoTime} */
    public StageThreads(EventLog log, LongSupplier nanoTime) {
        this.log = log;
        this.nanoTime = nanoTime;
        this.pool = newPool();
        this.watch = Thread.ofPlatform().name("plugin-watch").daemon().start(this::watch);
    }

    /** The share of one service, which logs know by the plugin's name. */
    public Share share(String plugin) {
        return share(plugin, stuck -> {});
    }

    /**
     * The same.
     *
     * @param abandoned told, on any thread and without waiting, how many threads stay with calls that were given up, whenever
     *     that has changed
     */
    public Share share(String plugin, IntConsumer abandoned) {
        return new Share(this, plugin, abandoned);
    }

    /** Lets every thread end that has run a plugin's code, when that is done: nothing that it left in a thread stays. */
    public synchronized void renew() {
        if (!closed) {
            ThreadPoolExecutor old = pool;
            pool = newPool();
            old.shutdown();
        }
    }

    /** Ends the threads; those of a plugin that blocks are interrupted and left. */
    @Override
    public synchronized void close() {
        closed = true;
        pool.shutdownNow();
        LockSupport.unpark(watch);
    }

    EventLog log() {
        return log;
    }

    long now() {
        return nanoTime.getAsLong();
    }

    /**
     * Runs it soon: on this thread, behind what that does, where it is a stage thread that no plugin holds and nothing else
     * waits for; else on another. Never within the caller: who hands on a call must be back, and hold nothing, by the time that
     * the call may block.
     */
    void next(Runnable work) {
        if (Thread.currentThread() instanceof StageThread thread
                && thread.owner == this
                && !thread.held
                && thread.next == null) {
            thread.next = work;
        } else {
            execute(work);
        }
    }

    /** Whether a plugin's code has this stage thread from now on. */
    static void held(boolean held) {
        ((StageThread) Thread.currentThread()).held = held;
    }

    /** Runs it on a thread that has nothing else to do. */
    void execute(Runnable work) {
        while (true) {
            ThreadPoolExecutor current = pool;
            try {
                current.execute(work);
                return;
            } catch (java.util.concurrent.RejectedExecutionException e) {
                if (closed) {
                    return;
                }
                // It was renewed in between.
            }
        }
    }

    void begun(Share.Call<?> call) {
        calls.add(call);
        if (!watching) {
            LockSupport.unpark(watch);
        }
    }

    void over(Share.Call<?> call) {
        calls.remove(call);
    }

    private void watch() {
        while (!closed) {
            watching = true;
            if (calls.isEmpty()) {
                watching = false;
                if (calls.isEmpty()) {
                    LockSupport.park(this);
                }
            } else {
                LockSupport.parkNanos(this, LOOK_NANOS);
                calls.forEach(call -> call.look(now()));
            }
        }
    }

    private ThreadPoolExecutor newPool() {
        return new ThreadPoolExecutor(
                0,
                Integer.MAX_VALUE,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new SynchronousQueue<>(),
                work -> new StageThread(this, work, "plugin-stage-" + started.incrementAndGet())) {
            @Override
            protected void afterExecute(Runnable work, Throwable failure) {
                ((StageThread) Thread.currentThread()).goOn();
            }
        };
    }

    private static final class StageThread extends Thread {
        private final StageThreads owner;

        // Of the thread.
        private Runnable next;
        private boolean held;

        StageThread(StageThreads owner, Runnable work, String name) {
            super(null, work, name, 0, false);
            this.owner = owner;
            setDaemon(true);
            setContextClassLoader(null);
        }

        private void goOn() {
            while (next != null) {
                Runnable work = next;
                next = null;
                work.run();
            }
        }
    }
}
