package org.nemorelay.protocol.control;

/**
 * One planned plugin of a worker as {@code nemo-relay status} shows it.
 *
 * @param state {@code active}, {@code quarantined} or another word of the plugin host
 * @param version empty while unknown, like {@code file} and {@code reason}
 * @param planned {@code required}, {@code optional} or {@code no}; empty for what is no plugin
 */
public record PluginReport(String kind, String version, String state, String file, String reason, String planned) {}
