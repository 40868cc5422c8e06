package org.nemorelay.config;

import java.util.Map;
import org.nemorelay.config.internal.LogSources;
import org.nemorelay.telemetry.LogSettings;

/** What a process logs, as far as its command line and its environment say (plugins 3). */
public final class LogConfiguration {
    private LogConfiguration() {}

    /**
     * The settings of the options and variables, and of the file that one of them names; reads that file. What they leave
     * open is the default: {@code config.toml} is the roles' own affair.
     *
     * @param flags the given options by long name without dashes
     * @throws org.nemorelay.protocol.RelayException (CONFIGURATION) for a wrong word, two sources that exclude each other,
     *     or a bad file
     */
    public static LogSettings resolve(Map<String, String> flags, Map<String, String> environment) {
        return LogSources.resolve(flags, environment, Map.of(), "logging");
    }
}
