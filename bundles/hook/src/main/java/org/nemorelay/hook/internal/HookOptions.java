package org.nemorelay.hook.internal;

import java.util.Optional;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.HookAgent;
import org.nemorelay.protocol.RelayException;

/**
 * The command line after {@code daemon hook} (relay-daemon 1.3).
 *
 * @param failClosed what a flag says; empty where none does
 */
public record HookOptions(HookAgent agent, DaemonUrl daemon, Optional<Boolean> failClosed) {
    /** How it is called; stands below what is wrong, too. */
    public static final String USAGE =
            "Usage: nemo-relay daemon hook [OPTIONS] --daemon-address <DAEMON_ADDRESS> <AGENT>";

    /** What {@code --help} prints. */
    public static final String HELP =
            "Forward a coding agent's hook from standard input to a daemon, and its answer to standard output\n\n"
                    + USAGE
                    + """


            Arguments:
              <AGENT>  Whose hook it is: claude, codex or pi

            Options:
                  --daemon-address <DAEMON_ADDRESS>  The daemon, such as http://127.0.0.1:47632
                  --fail-open                        Let the agent go on when the hook cannot be delivered (exit status 0)
                  --fail-closed                      Stop the agent when the hook cannot be delivered (exit status 2)
              -h, --help                             Print help

            Without one of the two, PreToolUse and PermissionRequest fail closed and all others open;
            NEMO_RELAY_FAIL_CLOSED=1 makes all of them fail closed; any other value counts as not set.
            The credential is taken from NEMO_RELAY_CLIENT_TOKEN, else from the file that
            `nemo-relay daemon token ensure` makes.
            """;

    /** The options that the arguments spell; empty where they ask for help; {@link FailureKind#INVALID_ARGUMENT} otherwise. */
    public static Optional<HookOptions> parse(String[] arguments) {
        String agent = "";
        String address = "";
        Optional<Boolean> failClosed = Optional.empty();
        for (int i = 0; i < arguments.length; i++) {
            String argument = arguments[i];
            if (argument.equals("-h") || argument.equals("--help")) {
                return Optional.empty();
            } else if (argument.equals("--fail-open") || argument.equals("--fail-closed")) {
                boolean closed = argument.equals("--fail-closed");
                if (failClosed.isPresent() && failClosed.get() != closed) {
                    throw refused("the argument '--fail-open' cannot be used with '--fail-closed'");
                }
                failClosed = Optional.of(closed);
            } else if (argument.equals("--daemon-address")) {
                if (++i == arguments.length) {
                    throw refused("a value is required for '--daemon-address <DAEMON_ADDRESS>' but none was supplied");
                }
                address = once(address, arguments[i]);
            } else if (argument.startsWith("--daemon-address=")) {
                address = once(address, argument.substring("--daemon-address=".length()));
            } else if (argument.startsWith("-") || !agent.isEmpty()) {
                throw refused("unexpected argument '" + argument + "' found");
            } else {
                agent = argument;
            }
        }
        if (address.isEmpty()) {
            throw refused("the following required arguments were not provided: --daemon-address <DAEMON_ADDRESS>");
        }
        if (agent.isEmpty()) {
            throw refused("the following required arguments were not provided: <AGENT>");
        }
        Optional<HookAgent> known = HookAgent.ofArgument(agent);
        if (known.isEmpty()) {
            throw refused("invalid value '" + agent + "' for '<AGENT>' [possible values: claude, codex, pi]");
        }
        return Optional.of(new HookOptions(known.get(), daemon(address), failClosed));
    }

    private static String once(String before, String value) {
        if (!before.isEmpty()) {
            throw refused("the argument '--daemon-address <DAEMON_ADDRESS>' cannot be used multiple times");
        }
        if (value.isEmpty()) {
            daemon(value);
        }
        return value;
    }

    private static DaemonUrl daemon(String address) {
        try {
            return DaemonUrl.parse(address);
        } catch (RelayException e) {
            throw refused("invalid value '" + address + "' for '--daemon-address <DAEMON_ADDRESS>': " + e.getMessage());
        }
    }

    private static RelayException refused(String message) {
        return new RelayException(FailureKind.INVALID_ARGUMENT, message);
    }
}
