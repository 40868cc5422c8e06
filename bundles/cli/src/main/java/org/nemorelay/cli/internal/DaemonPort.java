package org.nemorelay.cli.internal;

import org.nemorelay.config.EffectiveSettings;
import org.nemorelay.config.LaunchOptions;

/** The port that a daemon of this account, started now from this tree with these options, would listen on. */
final class DaemonPort {
    private DaemonPort() {}

    /**
     * {@code --port}, else {@code [daemon] port}, else the default.
     *
     * @throws org.nemorelay.protocol.RelayException (CONFIGURATION) for what would keep the daemon from starting
     */
    static int of(LaunchOptions options) {
        if (options.flag("port").isPresent()) {
            return Integer.parseInt(options.flags().get("port"));
        }
        return EffectiveSettings.of(new LaunchOptions("daemon", options.home(), options.flags(), options.environment()))
                .stream()
                .filter(setting -> setting.name().equals("daemon.port"))
                .map(setting -> Math.toIntExact((Long) setting.value().orElseThrow()))
                .findFirst()
                .orElseThrow();
    }
}
