package org.nemorelay.pluginhost;

/**
 * One plugin as an administrator sees it.
 *
 * @param kind empty for a file that could not be read so far
 * @param version the bundle's; empty where unknown
 * @param file the bundle's file; empty for a kind that none provides
 * @param reason why it is quarantined, else empty
 */
public record PluginStatus(String kind, String version, State state, String file, String reason) {
    /** The words that stand in lists and reports are these in lower case. */
    public enum State {
        STARTING,
        ACTIVE,
        IDLE,
        QUARANTINED
    }
}
