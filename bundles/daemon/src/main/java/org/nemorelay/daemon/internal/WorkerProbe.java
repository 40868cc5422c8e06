package org.nemorelay.daemon.internal;

import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.nemorelay.protocol.Reasons;

/** Asks a worker whether it serves (relay-daemon 7). */
interface WorkerProbe {
    long TIMEOUT_MS = 2_000;

    /**
     * Nothing when the worker answered 204 to its data token within the limit, otherwise what is wrong, as a clause about it;
     * never fails, never blocks.
     */
    CompletionStage<Optional<String>> problem(WorkerRoute worker, String dataToken);

    /** What the end of a request for the status means; one of the two is null. */
    static Optional<String> problem(Integer status, Throwable failure) {
        if (failure != null) {
            Throwable cause =
                    failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
            return Optional.of(Reasons.of(cause));
        }
        return status == 204 ? Optional.empty() : Optional.of("it answered with status " + status);
    }
}
