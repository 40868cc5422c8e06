package org.nemorelay.config.internal;

import java.util.Map;
import java.util.TreeMap;
import org.nemorelay.config.LaunchOptions;

/** The settings of a role as values and sources. */
public final class RoleSettings {
    private RoleSettings() {}

    /** By dotted name. */
    public static Map<String, Map.Entry<Object, String>> of(LaunchOptions options) {
        Map<String, Map.Entry<Object, String>> settings = new TreeMap<>();
        RoleConfiguration.resolve(options).settings().forEach((name, setting) -> {
            // A worker takes nothing from the daemon's table, nor a daemon from the workers'.
            if (!name.startsWith(options.role().equals("daemon") ? "logging." : "daemon.")) {
                settings.put(name, Map.entry(setting.value(), setting.origin()));
            }
        });
        return settings;
    }
}
