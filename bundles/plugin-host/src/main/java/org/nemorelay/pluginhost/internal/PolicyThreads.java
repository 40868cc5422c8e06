package org.nemorelay.pluginhost.internal;

import java.time.Instant;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.pluginhost.Judgement;
import org.nemorelay.pluginhost.Judgement.Verdict;
import org.nemorelay.pluginhost.PolicyGate;
import org.nemorelay.telemetry.EventLog;

/**
 * One hook policy on threads of its own, a few at most, which go when there is nothing to decide. What the policy does
 * wrong denies the call and concerns no other plugin. A policy that blocks for ever holds these threads and no more.
 */
final class PolicyThreads implements PolicyGate, PluginServices.Runner {
    private static final int MAX_THREADS = StuckCalls.PER_SERVICE;
    private static final int MAX_WAITING = 256;
    private static final long IDLE_SECONDS = 30;
    private static final int DEFAULT_PRIORITY = 100;

    private final String name;
    private final EventLog log;
    private final ThreadPoolExecutor threads;
    private final AtomicInteger started = new AtomicInteger();
    private final IntConsumer abandoned;

    /** Calls that were given up and have not come back. */
    private int stuck;

    /** What the service is called by; set before anybody is given this gate. */
    private record Active(HookPolicy policy, int priority) {}

    private volatile Optional<Active> active = Optional.empty();

    /**
     * Activates the policy on one of the threads.
     *
     * @param name the plugin's kind
     * @param activation gets the service, which may construct it and take any time; empty when there is none
     * @param told given this gate on that thread when activation found a policy, else nothing
     * @param abandoned told how many threads stay with calls that were given up, whenever that has changed
     */
    PolicyThreads(
            String name,
            EventLog log,
            Supplier<Optional<HookPolicy>> activation,
            Consumer<Optional<PolicyGate>> told,
            IntConsumer abandoned) {
        this.name = name;
        this.log = log;
        this.abandoned = abandoned;
        this.threads = new ThreadPoolExecutor(
                MAX_THREADS,
                MAX_THREADS,
                IDLE_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(MAX_WAITING),
                work -> Thread.ofPlatform()
                        .name("plugin-" + name + "-" + started.incrementAndGet())
                        .daemon()
                        .unstarted(work));
        threads.allowCoreThreadTimeOut(true);
        threads.execute(() -> {
            active = activation.get().map(policy -> new Active(policy, priority(policy)));
            told.accept(active.map(found -> this));
        });
    }

    @Override
    public String plugin() {
        return name;
    }

    @Override
    public int priority() {
        return active.orElseThrow().priority();
    }

    @Override
    public CompletableFuture<Judgement> judge(ToolCall call, long millis) {
        Instant begun = Instant.now();
        HookPolicy policy = active.orElseThrow().policy();
        CompletableFuture<Verdict> verdict = new CompletableFuture<>();
        Call work = new Call(() -> ask(policy, call, verdict));
        Verdict late = new Verdict.Failed(
                denied("did not decide within " + Math.max(1, TimeUnit.MILLISECONDS.toSeconds(millis)) + " s"));
        try {
            threads.execute(work);
            verdict.completeOnTimeout(late, millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            verdict.complete(new Verdict.Failed(
                    denied(threads.isShutdown() ? "is about to stop" : "has more calls to decide about than it can")));
        }
        return verdict.thenApply(given -> {
            // By identity: it came from the clock, so this is not the plugin's thread.
            if (given == late) {
                work.giveUp();
                threads.remove(work);
                log("plugin_slow", "plugin " + name + " took too long for a decision, the tool call is denied");
            }
            return new Judgement(name, begun, Instant.now(), given);
        });
    }

    @Override
    public boolean close(long millis) throws InterruptedException {
        threads.shutdown();
        if (threads.awaitTermination(millis, TimeUnit.MILLISECONDS)) {
            return true;
        }
        threads.shutdownNow();
        return threads.awaitTermination(millis / 10 + 1, TimeUnit.MILLISECONDS);
    }

    private synchronized void stuck(int more) {
        stuck += more;
        abandoned.accept(stuck);
    }

    /** One call on a thread, which stays with it until it comes back. */
    private final class Call implements Runnable {
        private final Runnable work;

        // Guarded by this.
        private Optional<Thread> thread = Optional.empty();
        private boolean over;

        Call(Runnable work) {
            this.work = work;
        }

        @Override
        public void run() {
            synchronized (this) {
                if (over) {
                    return;
                }
                thread = Optional.of(Thread.currentThread());
            }
            try {
                work.run();
            } finally {
                back();
            }
        }

        private synchronized void back() {
            thread = Optional.empty();
            if (over) {
                // What it was interrupted for is over too.
                Thread.interrupted();
                stuck(-1);
            }
            over = true;
        }

        synchronized void giveUp() {
            if (!over) {
                over = true;
                thread.ifPresent(busy -> {
                    busy.interrupt();
                    stuck(1);
                });
            }
        }
    }

    private void ask(HookPolicy policy, ToolCall call, CompletableFuture<Verdict> verdict) {
        try {
            CompletionStage<Decision> stage = Objects.requireNonNull(policy.decide(call), "it returned null");
            stage.whenComplete(
                    (decision, failure) -> verdict.complete(failure == null ? verdict(decision) : failed(failure)));
        } catch (Throwable e) {
            // Whatever a plugin throws, an error of its own making too, is its failure. After the time is over nobody
            // listens: an interrupted policy may throw what it likes.
            if (!verdict.isDone()) {
                verdict.complete(failed(e));
            }
        }
    }

    private Verdict verdict(Decision decision) {
        return switch (decision) {
            case Decision.Allow() -> new Verdict.Allowed();
            case Decision.Deny(String reason) -> new Verdict.Denied(reason);
            case Decision.Ask(String reason) -> new Verdict.Asked(reason);
            case null -> failed(new NullPointerException("its stage completed with null"));
        };
    }

    private Verdict failed(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        log(
                "plugin_failed",
                "plugin " + name + " failed in decide, the tool call is denied: "
                        + Failures.line(Failures.text(cause)));
        return new Verdict.Failed(denied("failed"));
    }

    private String denied(String what) {
        return "the policy plugin \"" + name + "\" " + what + ", so this tool call is denied";
    }

    /** An order is not worth a policy that is not asked. */
    private int priority(HookPolicy policy) {
        try {
            return policy.priority();
        } catch (Throwable e) {
            log("plugin_failed", "plugin " + name + " failed in priority: " + Failures.line(Failures.text(e)));
            return DEFAULT_PRIORITY;
        }
    }

    private void log(String event, String message) {
        log.log(EventLog.Level.ERROR, PluginHostComponent.TARGET, event, message, "plugin", name);
    }
}
