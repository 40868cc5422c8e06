package org.nemorelay.it;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/**
 * Waits for a condition with a deadline; what did not become true is named in the failure. It looks again after 10 ms, and
 * the longer it has waited the later, so that tests that wait together leave the machine to what they wait for.
 */
public final class Await {
    private static final long SHORTEST_NS = 10_000_000;
    private static final long LONGEST_NS = 200_000_000;
    private static final int PART = 20;

    private Await() {}

    public static void until(String what, Duration limit, Callable<Boolean> condition) {
        value(what, limit, () -> condition.call() ? Boolean.TRUE : null);
    }

    /** The same with a text that is made at the time of the failure. */
    public static void until(Supplier<String> what, Duration limit, Callable<Boolean> condition) {
        value(what, limit, () -> condition.call() ? Boolean.TRUE : null);
    }

    /** The first value of {@code source} that is not null; its exceptions count as "not yet". */
    public static <T> T value(String what, Duration limit, Callable<T> source) {
        return value(() -> what, limit, source);
    }

    /** The same with a text that is made at the time of the failure. */
    public static <T> T value(Supplier<String> what, Duration limit, Callable<T> source) {
        long begun = System.nanoTime();
        Exception last = null;
        while (true) {
            try {
                T value = source.call();
                if (value != null) {
                    return value;
                }
                last = null;
            } catch (Exception e) {
                last = e;
            }
            long waited = System.nanoTime() - begun;
            if (waited > limit.toNanos()) {
                throw new AssertionError(
                        "not within " + limit.toMillis() + " ms: " + what.get()
                                + (last == null ? "" : " (" + last + ")"),
                        last);
            }
            LockSupport.parkNanos(Math.clamp(waited / PART, SHORTEST_NS, LONGEST_NS));
        }
    }
}
