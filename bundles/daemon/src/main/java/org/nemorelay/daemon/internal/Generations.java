package org.nemorelay.daemon.internal;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.nemorelay.identity.DrainingWorker;
import org.nemorelay.identity.Generation;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/**
 * The durable record of which worker serves whom. Nobody waits for it but a publication; what fails is logged by name, and
 * what takes a generation away is tried again until it is written: a record that stays would let its worker return.
 */
final class Generations {
    private static final long FIRST_PAUSE_MS = 1_000;
    private static final long MAX_PAUSE_MS = 60_000;

    private final StateWriter state;
    private final ControlThread thread;
    private final EventLog log;

    Generations(StateWriter state, ControlThread thread, EventLog log) {
        this.state = state;
        this.thread = thread;
        this.log = log;
    }

    /** Puts the worker's generation on disk; completes with the one that it replaced. */
    CompletableFuture<Optional<Generation>> publish(Generation generation) {
        return state.publish(generation).whenComplete((previous, failure) -> {
            if (failure != null) {
                failed("worker_generation_publication_failed", generation.fingerprint(), failure);
            }
        });
    }

    /** Takes a publication back. */
    void restore(Generation published, Optional<Generation> previous) {
        untilWritten(
                () -> state.restore(published, previous),
                "worker_generation_restore_failed",
                published.fingerprint(),
                FIRST_PAUSE_MS);
    }

    /** Records that the worker drains; {@code told} runs on the control thread when that is on disk, or could not be written yet. */
    void drain(DrainingWorker worker, Runnable told) {
        untilWritten(
                        () -> state.drain(worker),
                        "worker_generation_revocation_failed",
                        worker.fingerprint(),
                        FIRST_PAUSE_MS)
                .whenComplete((done, failure) -> thread.post(told));
    }

    void revoke(Fingerprint fingerprint, String generationId) {
        untilWritten(
                () -> state.revoke(fingerprint, generationId),
                "worker_generation_revocation_failed",
                fingerprint,
                FIRST_PAUSE_MS);
    }

    /** Completes with the first attempt. Any later generation of the user is left alone by every change, however late it comes. */
    private CompletableFuture<Boolean> untilWritten(
            Supplier<CompletableFuture<Boolean>> change, String failureEvent, Fingerprint fingerprint, long pauseMs) {
        return change.get().exceptionally(failure -> {
            failed(failureEvent, fingerprint, failure);
            thread.post(() -> thread.after(
                    pauseMs,
                    () -> untilWritten(change, failureEvent, fingerprint, Math.min(2 * pauseMs, MAX_PAUSE_MS))));
            return false;
        });
    }

    private void failed(String event, Fingerprint fingerprint, Throwable failure) {
        Throwable cause = failure.getCause() instanceof RelayException relay ? relay : failure;
        log.log(
                Level.ERROR,
                TransitionLog.TARGET,
                event,
                "State of a worker could not be saved: " + cause.getMessage(),
                "fingerprint",
                fingerprint,
                "error_kind",
                FailureKind.STATE.word());
    }
}
