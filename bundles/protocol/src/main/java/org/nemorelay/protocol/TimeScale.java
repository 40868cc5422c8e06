package org.nemorelay.protocol;

import java.util.Map;

/**
 * For tests only: makes every timer that is longer than a minute end after a fraction of its time, so that a test of a
 * two-minute drain takes seconds. The processes of a test get it as {@value #VARIABLE}=N, and then say so in their log; no
 * installation sets it, and beyond loopback it is refused.
 *
 * @param divisor 1 for the documented times
 */
public record TimeScale(int divisor) {
    public static final String VARIABLE = "NEMO_RELAY_TEST_TIME_SCALE";
    private static final int MAX = 1_000;
    private static final long LONG_MS = 60_000;

    /** What the environment says; {@link FailureKind#CONFIGURATION} for anything but a number from 1 to 1000. */
    public static TimeScale of(Map<String, String> environment) {
        String value = environment.getOrDefault(VARIABLE, "1");
        try {
            int divisor = Integer.parseInt(value);
            if (divisor >= 1 && divisor <= MAX) {
                return new TimeScale(divisor);
            }
        } catch (NumberFormatException e) {
            // refused below
        }
        throw new RelayException(
                FailureKind.CONFIGURATION,
                VARIABLE + " must be a number from 1 to " + MAX + "; unset it outside of tests");
    }

    /**
     * The same for a process of one machine; {@link FailureKind#CONFIGURATION} where others than its tests rely on the
     * documented times.
     */
    public TimeScale within(boolean loopback) {
        if (loopback || documented()) {
            return this;
        }
        throw new RelayException(
                FailureKind.CONFIGURATION,
                VARIABLE + " cuts long timers short and is for tests on loopback addresses only; unset it");
    }

    /** How long a timer of {@code ms} milliseconds lasts. */
    public long ms(long ms) {
        return ms > LONG_MS ? ms / divisor : ms;
    }

    /** Whether times are as documented. */
    public boolean documented() {
        return divisor == 1;
    }
}
