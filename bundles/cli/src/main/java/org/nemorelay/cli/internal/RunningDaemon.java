package org.nemorelay.cli.internal;

import java.util.Optional;
import org.nemorelay.config.EffectiveSettings;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.identity.StateFolder;

/**
 * The daemon of this account that already has the port which another one was to have. It is told by the lock that it holds in
 * the account's state folder, and never by what a file says alone or by what answers on the port.
 */
public final class RunningDaemon {
    private RunningDaemon() {}

    /** One line about it; empty where somebody else has the port. */
    public static Optional<String> of(LaunchOptions options) {
        int port = EffectiveSettings.of(options).stream()
                .filter(setting -> setting.name().equals("daemon.port"))
                .map(setting -> Math.toIntExact((Long) setting.value().orElseThrow()))
                .findFirst()
                .orElseThrow();
        return StateFolder.of(options.environment())
                .seated(port)
                .map(pid -> "Address already in use: already running (pid " + pid + ", port " + port
                        + "): this account's daemon serves at 127.0.0.1:" + port);
    }
}
