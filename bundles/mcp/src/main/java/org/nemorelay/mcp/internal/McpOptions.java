package org.nemorelay.mcp.internal;

import java.util.Optional;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** The command line of {@code nemo-relay daemon mcp}. */
public record McpOptions(DaemonUrl daemonAddress) {
    private static final String OPTION = "--daemon-address";
    private static final String SHOWN = "'--daemon-address <DAEMON_ADDRESS>'";
    public static final String USAGE = "Usage: nemo-relay daemon mcp --daemon-address <DAEMON_ADDRESS>";

    public static final String HELP = """
            Serve MCP on standard input and output, and keep this user's route on the daemon while the session lasts

            Usage: nemo-relay daemon mcp --daemon-address <DAEMON_ADDRESS>

            Options:
                  --daemon-address <DAEMON_ADDRESS>  Absolute daemon URL, including scheme, host, and port
              -h, --help                             Print help

            Environment:
              NEMO_RELAY_CLIENT_TOKEN              Client token; otherwise the file that `nemo-relay daemon token ensure` makes
              NEMO_RELAY_WORKER_ADVERTISE_ADDRESS  Host under which a remote daemon reaches a worker on this machine
              NEMO_RELAY_WORKER_PORT               Port that a worker on this machine listens on
              NEMO_RELAY_LOG                       error, warn, info, debug or trace; standard error carries the log
            """;

    /** The options, or nothing when help is asked for; {@link FailureKind#INVALID_ARGUMENT} for wrong usage. */
    public static Optional<McpOptions> parse(String[] arguments) {
        Optional<String> address = Optional.empty();
        for (int i = 0; i < arguments.length; i++) {
            String argument = arguments[i];
            if (argument.equals("-h") || argument.equals("--help")) {
                return Optional.empty();
            }
            String value;
            if (argument.equals(OPTION)) {
                if (++i == arguments.length) {
                    throw wrong("a value is required for " + SHOWN + " but none was supplied");
                }
                value = arguments[i];
            } else if (argument.startsWith(OPTION + "=")) {
                value = argument.substring(OPTION.length() + 1);
            } else {
                throw wrong("unexpected argument '" + argument + "' found");
            }
            if (address.isPresent()) {
                throw wrong("the argument " + SHOWN + " cannot be used multiple times");
            }
            address = Optional.of(value);
        }
        if (address.isEmpty()) {
            throw wrong("the following required arguments were not provided: --daemon-address <DAEMON_ADDRESS>");
        }
        try {
            return Optional.of(new McpOptions(DaemonUrl.parse(address.get())));
        } catch (RelayException e) {
            throw wrong("invalid value '" + address.get() + "' for " + SHOWN + ": " + e.getMessage());
        }
    }

    private static RelayException wrong(String message) {
        return new RelayException(FailureKind.INVALID_ARGUMENT, message);
    }
}
