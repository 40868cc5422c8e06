package org.nemorelay.testkit;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.Assertions;

/** Waiting with a deadline. */
public final class Await {
    private static final Duration DEADLINE = Duration.ofSeconds(10);

    private Await() {}

    /** Returns once the condition holds; fails the test after ten seconds. */
    public static void until(String what, BooleanSupplier condition) {
        long end = System.nanoTime() + DEADLINE.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - end > 0) {
                Assertions.fail("waited " + DEADLINE + " in vain for: " + what);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Fails the test when the condition holds at any time within {@code quiet}. */
    public static void never(String what, Duration quiet, BooleanSupplier condition) {
        long end = System.nanoTime() + quiet.toNanos();
        while (System.nanoTime() - end < 0) {
            if (condition.getAsBoolean()) {
                Assertions.fail("must not happen: " + what);
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Waits for the latch; fails the test after ten seconds. For handlers too, which need no checked exceptions then. */
    public static void latch(CountDownLatch latch) {
        try {
            if (!latch.await(DEADLINE.toSeconds(), TimeUnit.SECONDS)) {
                Assertions.fail("waited " + DEADLINE + " in vain for a latch");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            Assertions.fail("interrupted");
        }
    }
}
