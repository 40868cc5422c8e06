package org.nemorelay.daemon.internal;

import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/** The one thread of the control plane, in the order that tasks come, with what the broker has due after each. */
final class ControlThread {
    private static final long QUESTION_MS = 2_000;

    private final Clock clock;
    private final EventLog log;
    private final Runnable due;
    private final LongSupplier nextWakeAt;
    private final ScheduledThreadPoolExecutor control;

    // Of the thread itself.
    private long wakeAt = Long.MAX_VALUE;
    private ScheduledFuture<?> wake;

    ControlThread(Clock clock, EventLog log, Runnable due, LongSupplier nextWakeAt) {
        this.clock = clock;
        this.log = log;
        this.due = due;
        this.nextWakeAt = nextWakeAt;
        this.control = new ScheduledThreadPoolExecutor(
                1, task -> Thread.ofPlatform().name("daemon-control").daemon().unstarted(task));
        control.setRemoveOnCancelPolicy(true);
        control.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    long now() {
        return clock.monotonicMs();
    }

    void post(Runnable task) {
        try {
            control.execute(() -> step(task));
        } catch (RejectedExecutionException e) {
            // The daemon is stopping: sockets and state go with it.
        }
    }

    void after(long delayMs, Runnable task) {
        control.schedule(() -> step(task), delayMs, TimeUnit.MILLISECONDS);
    }

    <T> T ask(Callable<T> question) {
        Future<T> answer = control.submit(question);
        try {
            return answer.get(QUESTION_MS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new RelayException(FailureKind.TIMEOUT, "the daemon's control thread does not answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RelayException(FailureKind.UNAVAILABLE, "the daemon is stopping", e);
        }
    }

    /** One task, then whatever the broker has due. A bug in one task ends neither the thread nor its other tasks. */
    private void step(Runnable task) {
        try {
            task.run();
            due.run();
            long next = nextWakeAt.getAsLong();
            if (next != wakeAt) {
                wakeAt = next;
                if (wake != null) {
                    wake.cancel(false);
                }
                if (next != Long.MAX_VALUE) {
                    wake = control.schedule(
                            () -> {
                                wakeAt = Long.MAX_VALUE;
                                step(() -> {});
                            },
                            Math.max(0, next - now()),
                            TimeUnit.MILLISECONDS);
                }
            }
        } catch (RejectedExecutionException e) {
            // The daemon is stopping.
        } catch (RuntimeException e) {
            log.log(
                    Level.ERROR,
                    TransitionLog.TARGET,
                    "worker_maintenance_failed",
                    "A control task failed: " + Reasons.defect(e),
                    "error_kind",
                    FailureKind.INTERNAL.word());
        }
    }

    /** Runs a last task, then ends the thread. Any thread but this one. */
    void end(Runnable last) {
        try {
            control.submit(last).get(QUESTION_MS, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            // The process ends anyway.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        control.shutdownNow();
        try {
            control.awaitTermination(QUESTION_MS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
