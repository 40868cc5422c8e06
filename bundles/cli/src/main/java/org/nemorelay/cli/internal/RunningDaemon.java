package org.nemorelay.cli.internal;

import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.admin.AdminClient;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.json.JsonException;
import org.nemorelay.protocol.RelayException;

/**
 * The daemon of this account that already serves on the port which another one was to have. It is told by its control
 * socket, in a folder that only this account and root can enter, and never by a file or by what answers on the port.
 */
public final class RunningDaemon {
    private static final Duration TIMEOUT = Duration.ofSeconds(5);

    /** Of two that start together the one that has the port may not have its control socket yet. */
    private static final int LOOKS = 30;

    private static final long LOOK_MILLIS = 100;

    private RunningDaemon() {}

    /** One line about it; empty where somebody else has the port. */
    public static Optional<String> of(LaunchOptions options) {
        int port = DaemonPort.of(options);
        Optional<Long> pid = pid(options, port);
        try {
            for (int look = 1; pid.isEmpty() && look < LOOKS && daemonAnswers(port); look++) {
                Thread.sleep(LOOK_MILLIS);
                pid = pid(options, port);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return pid.map(id -> "Address already in use: already running (pid " + id + ", port " + port
                + "): this account's daemon serves at 127.0.0.1:" + port);
    }

    private static Optional<Long> pid(LaunchOptions options, int port) {
        try {
            return Optional.of(new AdminClient(AdminClient.socket(StateFolder.of(options.environment()), port))
                    .call("status", Map.of(), TIMEOUT)
                    .object("daemon")
                    .integer("pid", 1, Long.MAX_VALUE));
        } catch (RelayException | JsonException e) {
            return Optional.empty();
        }
    }

    private static boolean daemonAnswers(int port) {
        try {
            new PublicPaths("http://127.0.0.1:" + port).health();
            return true;
        } catch (RelayException e) {
            return false;
        }
    }
}
