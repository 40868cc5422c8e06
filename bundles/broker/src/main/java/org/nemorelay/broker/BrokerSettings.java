package org.nemorelay.broker;

import org.nemorelay.protocol.TimeScale;

/**
 * What an administrator decides about routing, and the limits and times of relay-daemon 5.4 (milliseconds).
 *
 * @param passThrough no worker is ever launched
 * @param requireWorker a request without a ready worker is refused instead of passed through
 * @param publishedMemoryMs for how long a launch that was published is answered so, though its worker has gone
 */
public record BrokerSettings(
        boolean passThrough,
        boolean requireWorker,
        int maxTokensPerIdentity,
        int maxRoutes,
        int maxReferencesPerRoute,
        int maxSessions,
        long disconnectGraceMs,
        long drainMs,
        long startupReportMs,
        long publishedMemoryMs) {

    public BrokerSettings {
        if (passThrough && requireWorker) {
            throw new IllegalArgumentException("pass-through and require-worker exclude each other");
        }
    }

    /** The documented limits and times with the given modes. */
    public static BrokerSettings of(boolean passThrough, boolean requireWorker, int maxTokensPerIdentity) {
        return new BrokerSettings(
                passThrough,
                requireWorker,
                maxTokensPerIdentity,
                4_096,
                1_024,
                8_192,
                30_000,
                120_000,
                60_000,
                300_000);
    }

    /** The same with the long times of a test. */
    public BrokerSettings with(TimeScale scale) {
        return new BrokerSettings(
                passThrough,
                requireWorker,
                maxTokensPerIdentity,
                maxRoutes,
                maxReferencesPerRoute,
                maxSessions,
                scale.ms(disconnectGraceMs),
                scale.ms(drainMs),
                scale.ms(startupReportMs),
                scale.ms(publishedMemoryMs));
    }
}
