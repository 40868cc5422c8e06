package org.nemorelay.protocol.control;

/**
 * One planned plugin of a worker as {@code nemo-relay status} shows it.
 *
 * @param state {@code active}, {@code quarantined} or another word of the plugin host
 * @param version empty while unknown, like {@code file} and {@code reason}
 */
public record PluginReport(String kind, String version, String state, String file, String reason) {}
