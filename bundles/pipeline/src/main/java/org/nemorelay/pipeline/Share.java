package org.nemorelay.pipeline;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.telemetry.EventLog;

/** One service's share of {@link StageThreads}: how many of its calls may run and wait. Safe for any thread. */
public final class Share {
    /** How many threads the calls of one service may occupy. */
    public static final int MAX_RUNNING = 8;

    private static final int MAX_WAITING = 256;

    private final StageThreads threads;
    private final String plugin;
    private final IntConsumer abandoned;

    // Guarded by this.
    private final Deque<Runnable> waiting = new ArrayDeque<>();
    private int running;
    private int stuck;
    private boolean closed;

    Share(StageThreads threads, String plugin, IntConsumer abandoned) {
        this.threads = threads;
        this.plugin = plugin;
        this.abandoned = abandoned;
    }

    /** What a call does. */
    @FunctionalInterface
    interface Body<R> {
        CompletionStage<R> run(Budget budget) throws Exception;
    }

    /** What comes after it, on a stage thread; one of the two is null. */
    @FunctionalInterface
    interface Then<R> {
        void accept(R result, StageFailure failure);
    }

    /** How much time a call has left. */
    interface Budget {
        /** It begins anew. */
        void renew();

        /** The clock stands still until it is resumed as often. */
        void suspend();

        void resume();

        /** Whether the call still occupies its thread. */
        boolean blocking();
    }

    /** The plugin's name. */
    public String plugin() {
        return plugin;
    }

    /** How many threads its calls occupy now. */
    public synchronized int running() {
        return running;
    }

    /** Runs something of the plugin's that takes the time it takes, such as its activation. */
    public void run(Runnable work) {
        call(
                Long.MAX_VALUE,
                budget -> {
                    work.run();
                    return CompletableFuture.completedStage(null);
                },
                (done, failure) -> {});
    }

    /**
     * Asks the service something. Completes on a stage thread, exceptionally with a {@link StageFailure} where it failed or
     * took longer than {@code nanos}.
     */
    public <R> CompletableFuture<R> ask(long nanos, Callable<CompletionStage<R>> question) {
        CompletableFuture<R> answer = new CompletableFuture<>();
        call(nanos, budget -> question.call(), (result, failure) -> {
            if (failure == null) {
                answer.complete(result);
            } else {
                answer.completeExceptionally(failure);
            }
        });
        return answer;
    }

    /**
     * Takes no further calls, and waits until those under way have ended, {@code millis} at most.
     *
     * @return whether they have
     */
    public synchronized boolean close(long millis) throws InterruptedException {
        closed = true;
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (running > 0) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }

    /**
     * Has the service called on a stage thread as soon as the share has room; returns before.
     *
     * @param nanos how long it may take, from its begin to its stage's completion
     */
    <R> void call(long nanos, Body<R> body, Then<R> then) {
        Call<R> call = new Call<>(nanos, body, then);
        String refusal = null;
        synchronized (this) {
            if (closed) {
                refusal = "is about to stop";
            } else if (running < MAX_RUNNING) {
                running++;
            } else if (waiting.size() < MAX_WAITING) {
                // It may wait no longer than it may take.
                waiting.add(call);
                threads.begun(call);
                return;
            } else {
                refusal = "has more to do than it can";
            }
        }
        if (refusal != null) {
            StageFailure failure = failure(refusal);
            threads.next(() -> then.accept(null, failure));
        } else {
            threads.next(call);
        }
    }

    /** Runs something that a call of this share waits for, so it needs no room. */
    void beside(Runnable work) {
        threads.execute(work);
    }

    /** A thread stays with a call that was given up, or has come back from one. */
    private synchronized void stuck(int more) {
        stuck += more;
        abandoned.accept(stuck);
    }

    private void release() {
        Runnable next;
        synchronized (this) {
            next = waiting.poll();
            if (next == null) {
                running--;
                if (closed) {
                    notifyAll();
                }
            }
        }
        if (next != null) {
            threads.execute(next);
        }
    }

    private StageFailure failure(String what) {
        return new StageFailure("the plugin \"" + plugin + "\" " + what);
    }

    private void log(String event, String message) {
        threads.log().log(EventLog.Level.ERROR, StageThreads.TARGET, event, message, "plugin", plugin);
    }

    /** One line of what a plugin threw. */
    static String line(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        try {
            return Reasons.said(String.valueOf(cause));
        } catch (Throwable e) {
            return cause.getClass().getName();
        }
    }

    /** One call: runs, may wait for its stage, and ends once. */
    final class Call<R> implements Runnable, Budget {
        private final long nanos;
        private final Body<R> body;
        private final Then<R> then;

        // Guarded by this.
        private Thread thread;
        private long begun;
        private long left;
        private int suspended;
        private boolean ended;
        private boolean abandonedIt;

        Call(long nanos, Body<R> body, Then<R> then) {
            this.nanos = nanos;
            this.body = body;
            this.then = then;
            this.begun = threads.now();
            this.left = nanos;
        }

        private synchronized boolean begin() {
            if (ended) {
                return false;
            }
            thread = Thread.currentThread();
            begun = threads.now();
            left = nanos;
            return true;
        }

        @Override
        public void run() {
            if (!begin()) {
                release();
                return;
            }
            threads.begun(this);
            CompletableFuture<R> future = null;
            Throwable thrown = null;
            StageThreads.held(true);
            try {
                CompletionStage<R> stage = body.run(this);
                future = stage == null ? null : stage.toCompletableFuture();
                if (future == null) {
                    thrown = new NullPointerException("it returned null");
                }
            } catch (Throwable e) {
                // Whatever a plugin throws, an error of its own making too, is its failure and ends this call.
                thrown = e;
            }
            StageThreads.held(false);
            boolean given;
            synchronized (this) {
                thread = null;
                given = abandonedIt;
                if (ended) {
                    // Nobody listens any more: what it was interrupted for is over too.
                    Thread.interrupted();
                }
            }
            if (given) {
                stuck(-1);
            }
            if (thrown instanceof InterruptedException) {
                Thread.interrupted();
            }
            release();
            if (thrown != null) {
                fail(thrown);
                return;
            }
            if (future.state() == Future.State.SUCCESS) {
                complete(future.resultNow(), null);
            } else {
                future.whenComplete((result, failure) -> threads.next(() -> complete(result, failure)));
            }
        }

        private void complete(R result, Throwable failure) {
            if (failure != null) {
                fail(failure);
            } else if (end()) {
                then.accept(result, null);
            }
        }

        private void fail(Throwable thrown) {
            // A plugin's text too, which may never come.
            String line = line(thrown);
            if (end()) {
                log("plugin_failed", "plugin " + plugin + " failed: " + line);
                then.accept(null, failure("failed"));
            }
        }

        private boolean end() {
            synchronized (this) {
                if (ended) {
                    return false;
                }
                ended = true;
            }
            threads.over(this);
            return true;
        }

        /** Gives it up when its time is over. */
        void look(long now) {
            synchronized (this) {
                if (ended || suspended > 0 || now - begun < left) {
                    return;
                }
                ended = true;
                if (thread != null) {
                    abandonedIt = true;
                    thread.interrupt();
                    stuck(1);
                }
            }
            threads.over(this);
            log(
                    "plugin_slow",
                    "plugin " + plugin + " took more than " + TimeUnit.NANOSECONDS.toMillis(nanos)
                            + " ms, it is not waited for");
            StageFailure failure = failure("took too long");
            threads.execute(() -> then.accept(null, failure));
        }

        @Override
        public synchronized void renew() {
            begun = threads.now();
            left = nanos;
        }

        @Override
        public synchronized void suspend() {
            if (suspended++ == 0) {
                left -= threads.now() - begun;
            }
        }

        @Override
        public synchronized boolean blocking() {
            return thread != null;
        }

        @Override
        public synchronized void resume() {
            if (--suspended == 0) {
                begun = threads.now();
            }
        }
    }
}
