package org.nemorelay.control;

import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;

/** How a client comes to its daemon in spite of restarts (relay-daemon 3.10). Stateless; safe for any thread. */
public final class RetryPolicy {
    /** From the first attempt, or from the moment of the disconnect. */
    public static final long BUDGET_MS = 30_000;

    /** How long one attempt may take, everything included. */
    private static final long ATTEMPT_MS = 5_000;

    private static final long FIRST_DELAY_MS = 250;
    private static final long LONGEST_DELAY_MS = 2_000;
    private static final int JITTER_MS = 100;

    /** One try. */
    @FunctionalInterface
    public interface Attempt<T> {
        /** Tries; over at this {@link System#nanoTime()}, so that a try that fails late does not make the budget longer. */
        T before(long deadlineNanos);
    }

    private RetryPolicy() {}

    /** When the budget that begins now ends, in {@link System#nanoTime()}. */
    public static long deadline() {
        return System.nanoTime() + BUDGET_MS * 1_000_000;
    }

    /** Whether repeating an MCP registration is pointless: the credential was rejected, or something on this machine is wrong. */
    public static boolean definitiveForMcp(FailureKind kind) {
        return kind == FailureKind.CREDENTIAL_REJECTED
                || kind == FailureKind.CONFIGURATION
                || kind == FailureKind.STATE
                || kind == FailureKind.INVALID_ARGUMENT;
    }

    /** Whether repeating a worker's first registration is pointless. */
    public static boolean definitiveForWorker(FailureKind kind) {
        return definitiveForMcp(kind) || kind == FailureKind.UNAUTHORIZED || kind == FailureKind.INCOMPATIBLE;
    }

    /**
     * The pause after attempt {@code number} (1, 2, ...), in milliseconds: doubling up to 2 s, less up to 99 ms, so that
     * clients that lost their daemon together do not come back together.
     */
    public static long delay(int number) {
        return fullDelay(number) - ThreadLocalRandom.current().nextInt(JITTER_MS);
    }

    private static long fullDelay(int number) {
        return Math.min(FIRST_DELAY_MS << Math.min(number - 1, 3), LONGEST_DELAY_MS);
    }

    /**
     * Repeats an MCP registration until it succeeds, fails for good, or the deadline passes: then the last failure is
     * thrown that did not come of the deadline itself. An interrupt ends the wait as {@code UNAVAILABLE}.
     */
    public static <T> T mcp(long deadlineNanos, Attempt<T> attempt) {
        return repeat(deadlineNanos, false, attempt);
    }

    /**
     * The same for a worker's first registration, where an unauthorized or incompatible worker is final. Its pauses are full:
     * workers start one by one.
     */
    public static <T> T worker(long deadlineNanos, Attempt<T> attempt) {
        return repeat(deadlineNanos, true, attempt);
    }

    private static <T> T repeat(long deadlineNanos, boolean worker, Attempt<T> attempt) {
        Optional<RelayException> before = Optional.empty();
        for (int number = 1; ; number++) {
            RelayException failure;
            long longest = System.nanoTime() + ATTEMPT_MS * 1_000_000;
            try {
                return attempt.before(longest - deadlineNanos < 0 ? longest : deadlineNanos);
            } catch (RelayException e) {
                failure = e;
            } catch (RuntimeException e) {
                throw new RelayException(
                        FailureKind.INTERNAL, "a registration failed in an unforeseen way: " + Reasons.defect(e), e);
            }
            if (worker ? definitiveForWorker(failure.kind()) : definitiveForMcp(failure.kind())) {
                throw failure;
            }
            long delay = worker ? fullDelay(number) : delay(number);
            long left = deadlineNanos - System.nanoTime();
            if (left <= 0) {
                // Cut off by the deadline, so that it says nothing but that: the one before knows why.
                throw before.orElse(failure);
            }
            if (left <= delay * 1_000_000) {
                throw failure;
            }
            before = Optional.of(failure);
            try {
                Thread.sleep(delay);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new RelayException(FailureKind.UNAVAILABLE, "the registration was interrupted", e);
            }
        }
    }
}
