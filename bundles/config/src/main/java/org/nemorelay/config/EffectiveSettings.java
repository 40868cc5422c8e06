package org.nemorelay.config;

import java.util.List;
import java.util.Optional;
import org.nemorelay.config.internal.RoleSettings;

/** What config.toml, environment, options and defaults come to for a role, each value with its source. */
public final class EffectiveSettings {
    /**
     * One value.
     *
     * @param name dotted, as in the file
     * @param value a string, an integer or a boolean; {@code "[REDACTED]"} for a credential; empty where nobody has set it
     * @param source {@code file:line:column}, a variable, an option, or {@code default}
     */
    public record Setting(String name, Optional<Object> value, String source) {}

    private EffectiveSettings() {}

    /**
     * All settings of {@code daemon} or {@code worker}, sorted by name. Reads the files.
     *
     * @throws org.nemorelay.protocol.RelayException (CONFIGURATION) for what would keep the role from starting
     */
    public static List<Setting> of(LaunchOptions options) {
        return RoleSettings.of(options);
    }
}
