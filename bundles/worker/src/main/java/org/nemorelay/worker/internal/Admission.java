package org.nemorelay.worker.internal;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.http.HttpFields;
import org.nemorelay.protocol.Headers;
import org.nemorelay.protocol.control.Secret;

/**
 * Who may send requests and whether they are taken (relay-daemon 7). The daemon's probe with exactly the token that was
 * issued last opens it; a lost control connection shuts it until the next probe; draining shuts it for good. Safe for any
 * thread.
 */
final class Admission {
    /** What becomes of an authenticated request. */
    enum Verdict {
        /** In flight until {@link #leave()}. */
        ENTER,
        /** Not taken; the daemon lets it pass by this worker. */
        PASS_BY,
        /** Not taken; this worker goes away in good order. */
        STOPPING
    }

    private static final Optional<byte[]> NONE = Optional.empty();

    // Tokens and flags are written under the lock and read without: the request path takes no lock.
    private volatile Optional<byte[]> current = NONE;
    private volatile Optional<byte[]> pending = NONE;
    private volatile boolean open;
    private volatile boolean stopping;
    private volatile boolean overdue;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final Standstill standstill;

    Admission() {
        this(new Standstill(System::nanoTime));
    }

    Admission(Standstill standstill) {
        this.standstill = standstill;
    }

    /** What a request that was taken waits for after a pause. */
    Standstill standstill() {
        return standstill;
    }

    /** A registration issued this token: the next probe must carry it. */
    synchronized void issued(Secret token) {
        pending = Optional.of(bytes(token.text()));
    }

    /** The control connection is gone: nothing is taken until a probe with a fresh token. */
    synchronized void controlLost() {
        open = false;
    }

    /** Nothing is taken any more. */
    synchronized void stop() {
        stopping = true;
        open = false;
    }

    /** Nothing is taken any more, and of what was taken nothing is begun. */
    void overdue() {
        overdue = true;
        stop();
    }

    /** Whether what was taken may still go to its provider. */
    boolean maySend() {
        return !overdue;
    }

    /** Whether the head carries exactly one worker token, and one that is valid now. Takes the same time for every value. */
    boolean authentic(HttpFields headers) {
        return token(headers)
                .filter(given -> matches(given, current) | matches(given, pending))
                .isPresent();
    }

    /** The daemon's probe; opens with the token issued last. The head must be {@link #authentic}. */
    synchronized boolean probe(HttpFields headers) {
        if (stopping) {
            return false;
        }
        byte[] given = token(headers).orElseThrow();
        if (pending.isPresent()) {
            if (!matches(given, pending)) {
                return false;
            }
            current = pending;
            pending = NONE;
            open = true;
        }
        return open;
    }

    /** Whether a request is taken; it is in flight from here on if so. */
    Verdict enter() {
        if (open) {
            inFlight.incrementAndGet();
            if (open) {
                return Verdict.ENTER;
            }
            leave();
        }
        return stopping ? Verdict.STOPPING : Verdict.PASS_BY;
    }

    void leave() {
        if (inFlight.decrementAndGet() == 0 && stopping) {
            synchronized (this) {
                notifyAll();
            }
        }
    }

    int inFlight() {
        return inFlight.get();
    }

    /** After {@link #stop()}: waits until nothing is in flight; false when that takes longer. */
    synchronized boolean awaitIdle(long millis) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (inFlight.get() > 0) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                return false;
            }
            wait(left);
        }
        return true;
    }

    private static Optional<byte[]> token(HttpFields headers) {
        List<String> values = headers.getValuesList(Headers.WORKER_TOKEN);
        return values.size() == 1 ? Optional.of(bytes(values.getFirst())) : NONE;
    }

    private static boolean matches(byte[] given, Optional<byte[]> valid) {
        return valid.isPresent() && MessageDigest.isEqual(given, valid.get());
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }
}
