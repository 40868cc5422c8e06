package org.nemorelay.daemon.internal;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.nemorelay.identity.Generation;
import org.nemorelay.identity.GenerationFile;
import org.nemorelay.protocol.Fingerprint;

/** Writes of the generation file, in order, on a thread of their own: nothing else ever waits for the disk. */
final class StateWriter implements AutoCloseable {
    private static final Duration LAST_WRITES = Duration.ofSeconds(10);

    private final GenerationFile file;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            task -> Thread.ofPlatform().name("daemon-state").daemon().unstarted(task));

    StateWriter(GenerationFile file) {
        this.file = file;
    }

    /** Makes the generation the user's; completes with the one it replaces. */
    CompletableFuture<Optional<Generation>> publish(Generation generation) {
        return write(() -> file.publish(generation));
    }

    /** Removes the generation if it is still the user's. */
    CompletableFuture<Boolean> revoke(Fingerprint fingerprint, String generationId) {
        return write(() -> file.revokeIfEqual(fingerprint, generationId));
    }

    /** Takes a publication back. */
    CompletableFuture<Boolean> restore(Generation published, Optional<Generation> previous) {
        return write(() -> file.restoreIfEqual(published, previous));
    }

    private <T> CompletableFuture<T> write(Supplier<T> operation) {
        return CompletableFuture.supplyAsync(operation, thread);
    }

    /** Lets the writes that were asked for end. */
    @Override
    public void close() {
        thread.shutdown();
        try {
            if (!thread.awaitTermination(LAST_WRITES.toMillis(), TimeUnit.MILLISECONDS)) {
                thread.shutdownNow();
            }
        } catch (InterruptedException e) {
            thread.shutdownNow();
            Thread.currentThread().interrupt();
        }
    }
}
