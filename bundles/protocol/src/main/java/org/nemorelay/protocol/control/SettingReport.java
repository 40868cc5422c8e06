package org.nemorelay.protocol.control;

/**
 * One value that is in force in a worker.
 *
 * @param name dotted; a plugin's begins with its kind
 * @param value as JSON, credentials hidden; empty where nobody has set it
 * @param source where it comes from, for people
 */
public record SettingReport(String name, String value, String source) {}
