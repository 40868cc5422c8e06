package org.nemorelay.daemon.internal;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.nemorelay.identity.Generation;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/** The durable record of which worker serves whom. Nobody waits for it but a publication; what fails is logged by name. */
final class Generations {
    private final StateWriter state;
    private final EventLog log;

    Generations(StateWriter state, EventLog log) {
        this.state = state;
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
        state.restore(published, previous).exceptionally(failure -> {
            failed("worker_generation_restore_failed", published.fingerprint(), failure);
            return false;
        });
    }

    void revoke(Fingerprint fingerprint, String generationId) {
        state.revoke(fingerprint, generationId).exceptionally(failure -> {
            failed("worker_generation_revocation_failed", fingerprint, failure);
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
