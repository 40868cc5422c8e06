package org.nemorelay.pluginhost;

import java.util.Locale;

/**
 * One plugin as an administrator sees it.
 *
 * @param kind empty for a file that could not be read so far
 * @param version the bundle's; empty where unknown
 * @param file the bundle's file; empty for a kind that none provides
 * @param reason why it is quarantined, else empty
 */
public record PluginStatus(String kind, String version, State state, String file, String reason) {
    /** What becomes of a plugin. */
    public enum State {
        /** Planned; its activation goes on. */
        STARTING,
        /** Planned, and running. */
        ACTIVE,
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
