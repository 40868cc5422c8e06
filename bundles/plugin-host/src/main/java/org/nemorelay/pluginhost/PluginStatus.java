package org.nemorelay.pluginhost;

import java.util.Locale;

/**
 * One plugin as an administrator sees it.
 *
 * @param kind empty for a file that could not be read so far
 * @param version the bundle's; empty where unknown
 * @param file the bundle's file; empty for a kind that none provides
 * @param reason why it is quarantined or failing, or why a newer one of it does not run; else empty
 * @param outdated whether it runs, but not as it is wanted now, for the reason given
 */
public record PluginStatus(String kind, String version, State state, String file, String reason, boolean outdated) {
    /** One that is as it is wanted, or does not run. */
    public PluginStatus(String kind, String version, State state, String file, String reason) {
        this(kind, version, state, file, reason, false);
    }

    /** What becomes of a plugin. */
    public enum State {
        /** Planned; its activation goes on. */
        STARTING,
        /** Planned, and running. */
        ACTIVE,
        /** Running, and failing at what it is given, for the reason with which that began. */
        FAILING,
        /** In a plugin folder, named by no component. */
        IDLE,
        /** Not running, for the reason given. */
        QUARANTINED;

        /** The word in lists and reports. */
        public String word() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
