package org.nemorelay.cli.internal;

import static org.nemorelay.cli.internal.Checks.*;

import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.Model.UsageMessageSpec;

/**
 * The commands and their options as a picocli model, written out: reading them from annotations would cost every start
 * its reflection.
 */
final class CommandTree {
    static final String HELP = "help";

    final CommandSpec root;

    /** What a value may be, and what it then is. */
    final Map<ArgSpec, UnaryOperator<String>> checks = new IdentityHashMap<>();

    CommandTree() {
        root = command(
                "nemo-relay",
                "Relay between coding agents and model providers, with administrator plugins around every request");
        root.addOption(value(
                        "--config",
                        "CONFIG",
                        "Read this file in place of the user's config.toml; the system's still wins",
                        ANY))
                .addOption(value("--openai-base-url", "OPENAI_BASE_URL", "OpenAI-compatible provider", ANY))
                .addOption(value("--anthropic-base-url", "ANTHROPIC_BASE_URL", "Anthropic provider", ANY))
                .addOption(value("--chatgpt-codex-base-url", "CHATGPT_CODEX_BASE_URL", "ChatGPT Codex provider", ANY))
                .addOption(value(
                        "--max-hook-payload-bytes",
                        "MAX_HOOK_PAYLOAD_BYTES",
                        "Largest hook, 20 MiB unless given",
                        BYTES))
                .addOption(value(
                        "--max-passthrough-body-bytes",
                        "MAX_PASSTHROUGH_BODY_BYTES",
                        "Largest body that plugins may read, 100 MiB unless given",
                        BYTES))
                .addOption(choice("--log-level", "LEVEL", "error, warn, info, debug or trace", LEVELS))
                .addOption(choice("--log-stderr-format", "STDERR_FORMAT", "human or jsonl", FORMATS))
                .addOption(value(
                        "--log-config-path", "CONFIG_PATH", "Take logging from this TOML file's [logging] alone", ANY))
                .addOption(flag("Print version", "-V", "--version"));
        root.usageMessage()
                .footer(
                        "",
                        "These options stand before the command: nemo-relay --log-level info daemon --port 8000",
                        "",
                        "Base URLs, limits and logging are also taken from the environment (NEMO_RELAY_OPENAI_BASE_URL, ...,",
                        "NEMO_RELAY_LOG, NEMO_RELAY_LOG_STDERR, NEMO_RELAY_LOG_STDERR_FORMAT, NEMO_RELAY_LOG_CONFIG_PATH), the user's",
                        "config.toml and /etc/nemo-relay/config.toml.",
                        "",
                        "New here? `nemo-relay demo` shows one request and one hook travel the whole way, and how to connect an agent.",
                        "`nemo-relay COMMAND --help` tells the options of a command.");

        CommandSpec daemon =
                command("daemon", "Run the daemon that coding agents connect to, or one of its companions");
        daemon.addOption(value("--bind", "BIND", "Address to listen on: 127.0.0.1 (default) or 0.0.0.0", BIND))
                .addOption(value("--port", "PORT", "Port to listen on [default: 47632]", PORT))
                .addOption(value(
                        "--advertise-address",
                        "ADVERTISE_ADDRESS",
                        "Where clients reach a daemon bound to 0.0.0.0",
                        ANY))
                .addOption(flag(
                        "Send every request straight to its provider; no worker is ever started", "--pass-through"))
                .addOption(flag("Refuse requests that no worker can take", "--require-worker"))
                .addOption(value(
                        "--max-tokens-per-identity",
                        "MAX_TOKENS_PER_IDENTITY",
                        "Client tokens that one user may hold at once, 1 to 64 [default: 4]",
                        TOKEN_LIMIT))
                .addOption(
                        value("--tls-cert", "TLS_CERT", "Serve over TLS with these certificates (PEM, own first)", ANY))
                .addOption(value("--tls-key", "TLS_KEY", "The first certificate's private key (PEM, PKCS#8)", ANY));
        daemon.addSubcommand(
                        "mcp",
                        own(command(
                                "mcp",
                                "Stand for a coding agent's session; the agent starts it as a stdio MCP server")))
                .addSubcommand("hook", own(command("hook", "Forward one hook of a coding agent from standard input")))
                .addSubcommand("worker", worker())
                .addSubcommand("token", token())
                .addSubcommand("tls-certificate", tlsCertificate())
                .addSubcommand(HELP, helpCommand());

        CommandSpec status = command("status", "Show a daemon with its sessions, routes, workers and plugins");
        status.addOption(value(
                        "--port",
                        "PORT",
                        "Port of a daemon on this machine [default: [daemon] port, else 47632]",
                        PORT))
                .addOption(json());
        CommandSpec demo = command(
                "demo", "Send one model request and one hook through daemon, worker and plugin, and show every hop");
        demo.addOption(json());
        CommandSpec demoOfCarriers = command(
                "carriers", "Change carriers under traffic, and count every message, job and call; a minute at most");
        demoOfCarriers
                .addOption(value("--swaps", "COUNT", "How often to change, 1 to 1000 [default: 20]", SWAPS))
                .addOption(json());
        demoOfCarriers
                .usageMessage()
                .footer(
                        "",
                        "Between the carrier within the process and NATS, where nats-server is installed: a private server is started",
                        "for the time of the demo. Without it between two carriers within the process.");
        demo.addSubcommand("carriers", demoOfCarriers).addSubcommand(HELP, helpCommand());
        root.addSubcommand("daemon", daemon)
                .addSubcommand("status", status)
                .addSubcommand("demo", demo)
                .addSubcommand(
                        "frontend",
                        ofFleet("frontend", "Run a fleet's frontend: model endpoints over the fleet's nodes"))
                .addSubcommand("node", ofFleet("node", "Run a node of a fleet: backend processes and control verbs"))
                .addSubcommand(
                        "agent-worker",
                        ofFleet("agent-worker", "Run an agent worker of a fleet: jobs and agent runs from its queues"))
                .addSubcommand("carriers", carriers())
                .addSubcommand("plugins", plugins())
                .addSubcommand("config", config())
                .addSubcommand("completion", completion())
                .addSubcommand(HELP, helpCommand());
        synopsis(root, "nemo-relay");
    }

    /** A role that has no options of its own. */
    private static CommandSpec ofFleet(String name, String description) {
        CommandSpec role = command(name, description);
        role.usageMessage()
                .footer(
                        "",
                        "Its settings are the tables [distributed] and [" + name.replace('-', '_')
                                + "] of config.toml. Options of the whole",
                        "program that it heeds stand before the command: --config FILE, --log-level LEVEL, --log-stderr-format FORMAT,",
                        "--log-config-path FILE. Such as: nemo-relay --config fleet.toml " + name);
        return role;
    }

    /** How each command is called, in the form that its peers on this machine have: optional things in brackets. */
    private static void synopsis(CommandSpec command, String path) {
        StringBuilder words = new StringBuilder(path);
        if (command.options().stream()
                .anyMatch(option -> !option.required() && !option.longestName().equals("--help"))) {
            words.append(" [OPTIONS]");
        }
        for (OptionSpec option : command.options()) {
            if (option.required()) {
                words.append(' ').append(shown(option));
            }
        }
        for (PositionalParamSpec argument : command.positionalParameters()) {
            String label = argument.paramLabel();
            words.append(' ')
                    .append(
                            argument.required()
                                    ? label
                                    : "[" + label.substring(1, label.length() - 1) + "]"
                                            + (argument.isMultiValue() ? "..." : ""));
        }
        switch (path) {
            case "nemo-relay daemon", "nemo-relay demo" ->
                command.usageMessage().customSynopsis(words.toString(), "       " + path + " <COMMAND>");
            default ->
                command.usageMessage()
                        .customSynopsis(words + (command.subcommands().isEmpty() ? "" : " <COMMAND>"));
        }
        command.subcommands()
                .forEach((name, inner) -> synopsis(inner.getCommandSpec(), path + " " + inner.getCommandName()));
    }

    static String shown(ArgSpec argument) {
        if (argument instanceof OptionSpec option) {
            return option.arity().max() == 0 ? option.longestName() : option.longestName() + " " + option.paramLabel();
        }
        return argument.paramLabel();
    }

    private CommandSpec worker() {
        CommandSpec worker =
                command("worker", "Run one user's worker; started by `daemon mcp`, with a grant on standard input");
        return worker.addOption(required(
                        "--daemon-address", "DAEMON_ADDRESS", "The daemon, with scheme, host and port", DAEMON))
                .addOption(value("--bind", "BIND", "Address to listen on: 127.0.0.1 (default) or 0.0.0.0", BIND))
                .addOption(value("--port", "PORT", "Port to listen on; any free one unless given", PORT))
                .addOption(value(
                        "--advertise-address",
                        "ADVERTISE_ADDRESS",
                        "Where the daemon reaches a worker bound to 0.0.0.0",
                        ANY));
    }

    private CommandSpec tlsCertificate() {
        CommandSpec certificate =
                command("tls-certificate", "Print the certificate that this account's daemon shows to hooks, as PEM");
        certificate
                .usageMessage()
                .footer(
                        "",
                        "Hooks of other users trust a daemon under an account of its own by this certificate. Run it as that account,",
                        "with the HOME and XDG_CONFIG_HOME of the service, and install the output as hook-tls-certificate.pem in",
                        "/etc/nemo-relay; file and folder must belong to root and not be writable by others. The identity is made if",
                        "there is none yet, so it may run before the daemon's first start. Publish again when the identity was removed.");
        return certificate;
    }

    private CommandSpec token() {
        CommandSpec ensure = command("ensure", "Make this user's client token file if there is none yet");
        ensure.addOption(json());
        ensure.usageMessage()
                .footer(
                        "",
                        "The file is ~/.config/nemo-relay/.client-token (XDG_CONFIG_HOME is heeded), readable by its owner only.",
                        "It is the credential of hooks and MCP processes where NEMO_RELAY_CLIENT_TOKEN is not set. A file that is",
                        "there already stays as it is, and the token is never printed. Run it as the user who runs the agent, not as root.");
        return command("token", "Manage this user's client token")
                .addSubcommand("ensure", ensure)
                .addSubcommand(HELP, helpCommand());
    }

    private CommandSpec plugins() {
        CommandSpec list = asking(command("list", "List what plugins.toml names and what lies in the plugin folders"));
        list.usageMessage()
                .footer(
                        "",
                        "Lines of a worker tell what is; they need the daemon's owner. Lines of the check tell what a worker that starts",
                        "now would find: its state is idle where nothing speaks against the plugin, and quarantined where something does.",
                        "PLANNED is what plugins.toml has of it: required, optional, or no.");
        CommandSpec validate = asking(command(
                "validate", "Check plugins as a worker does, and run none of their code; exit 1 for a bad one"));
        validate.addPositional(PositionalParamSpec.builder()
                .paramLabel("<JAR>")
                .arity("0..*")
                .type(List.class)
                .auxiliaryTypes(String.class)
                .description("Jars, or folders of them, to check wherever they lie, instead of the plugin folders")
                .build());
        CommandSpec inspect = asking(command("inspect", "Show all about one plugin, each value with its source"));
        inspect.addPositional(argument("KIND", "The kind, as in plugins.toml").build());
        return command("plugins", "Look at the administrator's plugins")
                .addSubcommand("list", list)
                .addSubcommand("validate", validate)
                .addSubcommand("inspect", inspect)
                .addSubcommand(HELP, helpCommand());
    }

    private CommandSpec asking(CommandSpec command) {
        return command.addOption(value(
                        "--port",
                        "PORT",
                        "Port of the daemon that is asked, and its workers [default: [daemon] port, else 47632]",
                        PORT))
                .addOption(json());
    }

    private CommandSpec config() {
        CommandSpec show = command("show", "Show what config.toml, plugins.toml, environment and defaults come to");
        show.addOption(flag("Add where each value comes from, and what running processes have instead", "--origin"));
        asking(show);
        show.usageMessage()
                .footer(
                        "",
                        "Settings that nobody has set are shown as such. Credentials are not shown. With --origin a line says whether it",
                        "was checked, as daemon and workers that start now would have it, or is in force in a running one that has",
                        "something else; these lines need the daemon's owner.");
        return command("config", "Look at the configuration")
                .addSubcommand("show", show)
                .addSubcommand(HELP, helpCommand());
    }

    private CommandSpec carriers() {
        PositionalParamSpec name = argument("NAME", "An instance, as [distributed.carriers.NAME] calls it")
                .build();
        return command("carriers", "Show or change what a running process of a fleet talks over")
                .addSubcommand("list", process(command("list", "List the carriers of a process")))
                .addSubcommand(
                        "status", process(command("status", "Show which carrier is used, and what is on its way")))
                .addSubcommand(
                        "use",
                        process(command("use", "Change to another carrier while messages flow"))
                                .addPositional(name))
                .addSubcommand(HELP, helpCommand());
    }

    private CommandSpec process(CommandSpec command) {
        return command.addOption(value(
                        "--process",
                        "PROCESS",
                        "Which process, such as frontend-8080 or node-one; needed where several run",
                        ANY))
                .addOption(json());
    }

    private CommandSpec completion() {
        PositionalParamSpec shell = argument("SHELL", "bash, zsh or fish")
                .completionCandidates(Completion.SHELLS)
                .build();
        checks.put(shell, oneOf(Completion.SHELLS));
        CommandSpec completion = command("completion", "Print the script with which a shell completes these commands")
                .aliases("completions")
                .addPositional(shell);
        completion.usageMessage().footer("", "Such as: eval \"$(nemo-relay completion bash)\"");
        return completion;
    }

    private static CommandSpec helpCommand() {
        CommandSpec help = command(HELP, "Print the help of a command");
        help.parser().unmatchedArgumentsAllowed(true);
        return help;
    }

    private static CommandSpec command(String name, String description) {
        CommandSpec command = CommandSpec.create().name(name);
        command.addOption(helpOption());
        UsageMessageSpec usage = command.usageMessage();
        usage.description(description, "")
                .width(118)
                .longOptionsMaxWidth(62)
                .sortOptions(false)
                .synopsisHeading("Usage: ")
                .optionListHeading("%nOptions:%n")
                .commandListHeading("%nCommands:%n");
        usage.sectionKeys(List.of(
                UsageMessageSpec.SECTION_KEY_DESCRIPTION,
                UsageMessageSpec.SECTION_KEY_SYNOPSIS_HEADING,
                UsageMessageSpec.SECTION_KEY_SYNOPSIS,
                UsageMessageSpec.SECTION_KEY_COMMAND_LIST_HEADING,
                UsageMessageSpec.SECTION_KEY_COMMAND_LIST,
                UsageMessageSpec.SECTION_KEY_OPTION_LIST_HEADING,
                UsageMessageSpec.SECTION_KEY_OPTION_LIST,
                UsageMessageSpec.SECTION_KEY_FOOTER));
        return command;
    }

    static OptionSpec helpOption() {
        return OptionSpec.builder("-h", "--help")
                .usageHelp(true)
                .description("Print help")
                .build();
    }

    /** A command whose own entry point reads its arguments. */
    private static CommandSpec own(CommandSpec command) {
        command.remove(command.findOption("--help"));
        command.parser().unmatchedArgumentsAllowed(true).unmatchedOptionsArePositionalParams(true);
        return command;
    }

    private OptionSpec value(String name, String label, String description, UnaryOperator<String> check) {
        return register(option(name, label, description), check);
    }

    private OptionSpec required(String name, String label, String description, UnaryOperator<String> check) {
        return register(option(name, label, description).required(true), check);
    }

    private OptionSpec register(OptionSpec.Builder builder, UnaryOperator<String> check) {
        OptionSpec option = builder.build();
        checks.put(option, check);
        return option;
    }

    static OptionSpec.Builder option(String name, String label, String description) {
        return OptionSpec.builder(name)
                .type(String.class)
                .paramLabel("<" + label + ">")
                .description(description);
    }

    private static PositionalParamSpec.Builder argument(String label, String description) {
        return PositionalParamSpec.builder()
                .type(String.class)
                .required(true)
                .paramLabel("<" + label + ">")
                .description(description);
    }

    private OptionSpec choice(String name, String label, String description, List<String> words) {
        return register(option(name, label, description).completionCandidates(words), oneOf(words));
    }

    static OptionSpec flag(String description, String... names) {
        return OptionSpec.builder(names)
                .type(boolean.class)
                .arity("0")
                .description(description)
                .build();
    }

    private static OptionSpec json() {
        return flag("Print JSON for programs", "--json");
    }
}
