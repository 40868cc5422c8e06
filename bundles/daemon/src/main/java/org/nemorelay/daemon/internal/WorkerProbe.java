package org.nemorelay.daemon.internal;

import java.util.concurrent.CompletionStage;

/** Asks a worker whether it serves (relay-daemon 7). */
interface WorkerProbe {
    long TIMEOUT_MS = 2_000;

    /** True when the worker answered 204 to its data token within the limit; never fails, never blocks. */
    CompletionStage<Boolean> ready(WorkerRoute worker, String dataToken);
}
