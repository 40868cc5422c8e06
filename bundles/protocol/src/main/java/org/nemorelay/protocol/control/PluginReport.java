package org.nemorelay.protocol.control;

/**
 * One planned plugin of a worker as {@code nemo-relay status} shows it.
 *
 * @param state {@code active}, {@code quarantined} or another word of the plugin host
 * @param version empty while unknown, like {@code file} and {@code reason}
 * @param planned {@code required}, {@code optional} or {@code no}; empty for what is no plugin
 * @param outdated whether it runs, but not as it is wanted now, for the reason given
 */
public record PluginReport(
        String kind, String version, String state, String file, String reason, String planned, boolean outdated) {
    /** One that is as it is wanted, or does not run. */
    public PluginReport(String kind, String version, String state, String file, String reason, String planned) {
        this(kind, version, state, file, reason, planned, false);
    }
}
