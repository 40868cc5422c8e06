package org.nemorelay.launcher.internal;

import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.ProcessControl;

/** How a role ended: the first of its own exit, its failure, and a signal. */
public final class ProcessEnd implements ProcessControl {
    /** @param failure what is still to be told on standard error */
    public record End(int status, Optional<RelayException> failure) {}

    private final CompletableFuture<End> end = new CompletableFuture<>();

    @Override
    public void ready() {}

    @Override
    public void fail(RelayException failure) {
        end.complete(new End(1, Optional.of(failure)));
    }

    @Override
    public void exit(int status) {
        end.complete(new End(status, Optional.empty()));
    }

    /** Waits for the end. */
    public End await() {
        return end.join();
    }
}
