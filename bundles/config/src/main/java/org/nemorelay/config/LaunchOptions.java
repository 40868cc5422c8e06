package org.nemorelay.config;

import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.config.internal.SystemFolder;

/**
 * How this process was started; the launcher registers it as a service before any bundle starts.
 *
 * @param role {@code daemon} or {@code worker}: names the feature file and what is configured
 * @param home the installed tree
 * @param flags the command line options that were given, by long name without dashes; a flag without a value is "true"
 * @param environment the process environment; it may hold credentials
 */
public record LaunchOptions(String role, Path home, Map<String, String> flags, Map<String, String> environment) {
    public LaunchOptions {
        flags = Map.copyOf(flags);
        environment = Map.copyOf(environment);
    }

    public Optional<String> flag(String name) {
        return Optional.ofNullable(flags.get(name));
    }

    /**
     * Where the administrator's files are: {@code etc} of the installed tree where there is one, else {@code
     * /etc/nemo-relay}. Looks at the disk.
     *
     * @throws org.nemorelay.protocol.RelayException (CONFIGURATION) when the tree's {@code etc} may have been written by
     *     somebody else than the tree's owner
     */
    public Path systemFolder() {
        return SystemFolder.of(home);
    }

    /** Leaves the environment out: it may hold credentials. */
    @Override
    public String toString() {
        return "LaunchOptions[" + role + ", " + home + ", " + flags.keySet() + "]";
    }
}
