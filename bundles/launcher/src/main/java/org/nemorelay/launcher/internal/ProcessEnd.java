package org.nemorelay.launcher.internal;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.ProcessControl;

/** How a role ended: the first of its own exit, its failure, and a signal. */
public final class ProcessEnd implements ProcessControl {
    /** @param failure what is still to be told on standard error */
    public record End(int status, Optional<RelayException> failure) {}

    private final CompletableFuture<End> end = new CompletableFuture<>();
    private final CompletableFuture<Void> up = new CompletableFuture<>();
    private volatile boolean over;

    @Override
    public void ready() {
        up.complete(null);
    }

    @Override
    public void fail(RelayException failure) {
        over = true;
        end.complete(new End(1, Optional.of(failure)));
    }

    /** What keeps a role from coming up; false, and nothing happens, when it is up already. */
    public boolean startFails(RelayException failure) {
        if (up.isDone()) {
            return false;
        }
        fail(failure);
        return true;
    }

    @Override
    public void exit(int status) {
        over = true;
        end.complete(new End(status, Optional.empty()));
    }

    /** A signal asks for the end: the role begins to finish what it has. */
    public void signalled() {
        end.complete(new End(0, Optional.empty()));
    }

    /** Whether the role itself has said that it has ended, whatever began it. */
    public boolean isOver() {
        return over;
    }

    /** Waits until the role is up or has ended; false when neither came in time. */
    public boolean awaitReady(Duration limit) {
        try {
            CompletableFuture.anyOf(up, end).get(limit.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return true;
        } catch (ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Whether the role has said that it is up. */
    public boolean wasReady() {
        return up.isDone();
    }

    /** Waits for the end. */
    public End await() {
        return end.join();
    }
}
