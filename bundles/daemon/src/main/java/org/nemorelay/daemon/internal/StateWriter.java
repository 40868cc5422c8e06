package org.nemorelay.daemon.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.nemorelay.identity.DrainingWorker;
import org.nemorelay.identity.Generation;
import org.nemorelay.identity.GenerationChange;
import org.nemorelay.identity.GenerationFile;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;

/**
 * Writes of the generation file, in order, on a thread of their own: nothing else ever waits for the disk. What is asked for
 * while a write is under way becomes one write together.
 */
final class StateWriter implements AutoCloseable {
    private static final Duration LAST_WRITES = Duration.ofSeconds(10);

    private final GenerationFile file;
    private final Queue<Task<?>> asked = new ConcurrentLinkedQueue<>();
    private final ExecutorService thread = Executors.newSingleThreadExecutor(
            task -> Thread.ofPlatform().name("daemon-state").daemon().unstarted(task));

    /** A change and who waits for it. */
    private record Task<T>(GenerationChange<T> change, CompletableFuture<T> done) {
        void complete() {
            try {
                done.complete(change.answer());
            } catch (RelayException e) {
                done.completeExceptionally(e);
            }
        }
    }

    StateWriter(GenerationFile file) {
        this.file = file;
    }

    /** Makes the generation the user's; completes with the one it replaces. */
    CompletableFuture<Optional<Generation>> publish(Generation generation) {
        return write(GenerationChange.publish(generation));
    }

    /** Makes the generation one that drains if it is still the user's. */
    CompletableFuture<Boolean> drain(DrainingWorker worker) {
        return write(GenerationChange.drain(worker));
    }

    /** Removes the generation if it is still the user's. */
    CompletableFuture<Boolean> revoke(Fingerprint fingerprint, String generationId) {
        return write(GenerationChange.revoke(fingerprint, generationId));
    }

    /** Takes a publication back. */
    CompletableFuture<Boolean> restore(Generation published, Optional<Generation> previous) {
        return write(GenerationChange.restore(published, previous));
    }

    private <T> CompletableFuture<T> write(GenerationChange<T> change) {
        Task<T> task = new Task<>(change, new CompletableFuture<>());
        asked.add(task);
        try {
            thread.execute(this::writeAsked);
        } catch (RejectedExecutionException e) {
            task.done().completeExceptionally(new RelayException(FailureKind.UNAVAILABLE, "the daemon is stopping", e));
        }
        return task.done();
    }

    private void writeAsked() {
        List<Task<?>> group = new ArrayList<>();
        for (Task<?> task = asked.poll(); task != null; task = asked.poll()) {
            group.add(task);
        }
        if (group.isEmpty()) {
            return; // an earlier write took it along
        }
        try {
            file.update(group.stream().map(Task::change).toList());
            group.forEach(Task::complete);
        } catch (RuntimeException e) {
            RelayException failure = e instanceof RelayException relay
                    ? relay
                    : new RelayException(
                            FailureKind.STATE, "the generations file was not written: " + Reasons.of(e), e);
            group.forEach(task -> task.done().completeExceptionally(failure));
        }
    }

    /** Lets the writes that were asked for end, for ten seconds at most. */
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
