package org.nemorelay.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.cli.internal.CarriersCommand;
import org.nemorelay.cli.internal.Commands;
import org.nemorelay.cli.internal.ConfigShow;
import org.nemorelay.cli.internal.Failures;
import org.nemorelay.cli.internal.PluginCommands;
import org.nemorelay.cli.internal.RunningDaemon;
import org.nemorelay.cli.internal.Status;
import org.nemorelay.cli.internal.TokenEnsure;
import org.nemorelay.cli.internal.demo.DemoCommand;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.config.LogConfiguration;
import org.nemorelay.hook.HookMain;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.launcher.RoleLauncher;
import org.nemorelay.mcp.McpMain;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.Version;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.LogSettings;
import org.nemorelay.telemetry.ProcessEventLog;

/**
 * Entry point of {@code nemo-relay}. Exit status 0 for success, 2 for wrong usage, 3 for a daemon that this account runs
 * already on the port, 1 for any other failure (relay-daemon 1.8).
 */
public final class Main {
    private static final int FAILED = 1;
    private static final int USAGE = 2;
    private static final int ALREADY_RUNNING = 3;

    private static final Duration HOOKS_LIMIT = Duration.ofSeconds(5);

    private final Map<String, String> environment;
    private final PrintStream out;
    private final PrintStream err;

    private Main(Map<String, String> environment, PrintStream out, PrintStream err) {
        this.environment = environment;
        this.out = out;
        this.err = err;
    }

    public static void main(String[] arguments) {
        PrintStream out = new PrintStream(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8);
        PrintStream err = new PrintStream(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8);
        int status = new Main(System.getenv(), out, err).run(arguments);
        if (out.checkError() && status == 0) {
            err.println("error: standard output cannot be written");
            status = FAILED;
        }
        exit(status);
    }

    /** Ends the process in any case: shutdown hooks may be a plugin's, and a hook that hangs would keep it for ever. */
    private static void exit(int status) {
        Thread.ofPlatform().name("last-exit").daemon().start(() -> {
            try {
                Thread.sleep(HOOKS_LIMIT);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            Runtime.getRuntime().halt(status);
        });
        System.exit(status);
    }

    private int run(String[] arguments) {
        if (arguments.length == 1 && (arguments[0].equals("--version") || arguments[0].equals("-V"))) {
            return version();
        }
        Commands commands = new Commands();
        try {
            return switch (commands.parse(arguments)) {
                case Commands.Wrong(String problem, String usage) -> {
                    err.println("error: " + problem + "\n\n" + usage + "\n\nFor more information, try '--help'.");
                    yield USAGE;
                }
                case Commands.Help(String text) -> {
                    out.print(text);
                    yield 0;
                }
                case Commands.Run run -> run(commands, run);
            };
        } catch (RelayException e) {
            err.println(Failures.line(e));
            return FAILED;
        } catch (RuntimeException e) {
            err.println(Reasons.defect(e));
            return FAILED;
        }
    }

    private int run(Commands commands, Commands.Run command) {
        if (command.flags().containsKey("version")) {
            return version();
        }
        boolean json = command.flags().containsKey("json");
        if (!command.path().equals("daemon hook")) {
            // Wrong settings of the log stop a command that logs nothing too: better now than in the daemon.
            LogConfiguration.resolve(command.flags(), environment);
        }
        switch (command.path()) {
            case "daemon" -> {
                return role("daemon", command);
            }
            case "daemon worker" -> {
                return role("worker", command);
            }
            case "frontend", "node", "agent-worker" -> {
                return role(command.path(), command);
            }
            case "carriers list", "carriers status", "carriers use" ->
                CarriersCommand.run(
                        command.path().substring("carriers ".length()),
                        environment,
                        command.flags(),
                        command.rest(),
                        json,
                        out);
            case "daemon hook" -> HookMain.run(command.rest().toArray(String[]::new), environment, hookLog(command));
            case "daemon mcp" ->
                McpMain.run(
                        command.rest().toArray(String[]::new),
                        environment,
                        LogConfiguration.resolve(command.flags(), environment));
            case "daemon token ensure" -> TokenEnsure.run(environment, json, out);
            case "daemon tls-certificate" ->
                out.print(StateFolder.of(environment).hookTlsIdentity().pem());
            case "status" -> Status.run(new LaunchOptions("status", home(), command.flags(), environment), json, out);
            case "demo carriers" -> {
                return role("carriers-demo", command);
            }
            case "demo" -> {
                return DemoCommand.run(home(), environment, json, out, err);
            }
            case "plugins list", "plugins validate", "plugins inspect", "config show" -> {
                return look(command);
            }
            case "completion" -> out.print(commands.completion(command.rest().getFirst()));
            default -> {
                err.print(commands.help(command.path()));
                return USAGE;
            }
        }
        return 0;
    }

    private int version() {
        out.println("nemo-relay " + Version.text());
        return 0;
    }

    private int role(String role, Commands.Run command) {
        LogSettings settings = LogConfiguration.resolve(command.flags(), environment);
        LaunchOptions options = new LaunchOptions(role, home(), command.flags(), environment);
        try (ProcessEventLog log = ProcessEventLog.asynchronous(settings)) {
            try {
                return RoleLauncher.run(options, log);
            } catch (RelayException e) {
                log.log(
                        EventLog.Level.ERROR,
                        "nemo_relay.cli",
                        "command_failed",
                        "CLI command failed",
                        "command",
                        command.path().split(" ")[0],
                        "error_kind",
                        e.kind().word());
                Optional<String> running = role.equals("daemon") && e.kind() == FailureKind.LAUNCH
                        ? RunningDaemon.of(options)
                        : Optional.empty();
                if (running.isEmpty()) {
                    throw e;
                }
                log.flush();
                err.println(Failures.line(new RelayException(FailureKind.LAUNCH, running.get(), e)));
                return ALREADY_RUNNING;
            }
        }
    }

    private int look(Commands.Run command) {
        LogSettings settings = LogConfiguration.resolve(command.flags(), environment);
        try (ProcessEventLog log = ProcessEventLog.synchronous(settings)) {
            PluginCommands plugins = new PluginCommands(home(), environment, command.flags(), log, out, err);
            return switch (command.path()) {
                case "plugins list" -> plugins.list();
                case "plugins validate" -> plugins.validate(command.rest());
                case "plugins inspect" -> plugins.inspect(command.rest().getFirst());
                default -> ConfigShow.run(home(), environment, command.flags(), log, out);
            };
        }
    }

    private static Path home() {
        String home = System.getProperty("nemorelay.home");
        if (home == null) {
            throw new RelayException(FailureKind.INTERNAL, "start through bin/nemo-relay: nemorelay.home is not set");
        }
        return Path.of(home);
    }

    /** A mistake in the settings of the log must not turn a hook that fails closed into one that does not. */
    private ProcessEventLog hookLog(Commands.Run command) {
        try {
            return ProcessEventLog.synchronous(LogConfiguration.resolve(command.flags(), environment));
        } catch (RelayException e) {
            err.println(HookMain.loggingIgnored(e));
            return ProcessEventLog.synchronous(LogSettings.DEFAULT);
        }
    }
}
