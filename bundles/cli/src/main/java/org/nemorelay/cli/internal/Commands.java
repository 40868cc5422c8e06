package org.nemorelay.cli.internal;

import static org.nemorelay.cli.internal.Checks.*;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.nemorelay.protocol.RelayException;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParseResult;

/** What a command line asks for, by the {@link CommandTree}. */
public final class Commands {
    /** A parsed command line. */
    public sealed interface Parsed {}

    /**
     * A command to run.
     *
     * @param path the words, such as {@code daemon token ensure}; empty for none
     * @param flags the given options of the whole path, by long name without dashes
     * @param rest the arguments that are no options, or all of a command that reads its own
     */
    public record Run(String path, Map<String, String> flags, List<String> rest) implements Parsed {}

    /** A text that was asked for. */
    public record Help(String text) implements Parsed {}

    /**
     * A command line that is wrong.
     *
     * @param problem one line that says what is wrong
     * @param usage how the command that it is about is called
     */
    public record Wrong(String problem, String usage) implements Parsed {}

    /** Why a command line is refused; never leaves this class. */
    private static final class Refusal extends RuntimeException {
        private static final long serialVersionUID = 1L;

        final transient CommandSpec command;

        Refusal(CommandSpec command, String problem) {
            super(problem);
            this.command = command;
        }
    }

    private final CommandTree tree = new CommandTree();
    private final CommandLine line;

    public Commands() {
        line = new CommandLine(tree.root)
                .setAllowOptionsAsOptionParameters(true)
                // An argument that begins with @ is no file to be read.
                .setExpandAtFiles(false)
                .setHelpFactory(HelpText::new);
    }

    /** What the arguments ask for. */
    public Parsed parse(String... arguments) {
        try {
            return command(line.parseArgs(arguments));
        } catch (CommandLine.UnmatchedArgumentException e) {
            return wrong(
                    e.getCommandLine().getCommandSpec(),
                    unmatched(e.getCommandLine(), e.getUnmatched().getFirst()));
        } catch (CommandLine.MissingParameterException e) {
            return wrong(e.getCommandLine().getCommandSpec(), missing(e, arguments));
        } catch (CommandLine.OverwrittenOptionException e) {
            return wrong(
                    e.getCommandLine().getCommandSpec(),
                    "the argument '" + CommandTree.shown(e.getOverwritten()) + "' cannot be used multiple times");
        } catch (CommandLine.ParameterException e) {
            return wrong(e.getCommandLine().getCommandSpec(), unexpectedValue(e, arguments));
        } catch (Refusal e) {
            return wrong(e.command, e.getMessage());
        }
    }

    private static Wrong wrong(CommandSpec command, String problem) {
        return new Wrong(
                problem, "Usage: " + String.join("\n", command.usageMessage().customSynopsis()));
    }

    private String unmatched(CommandLine at, String argument) {
        String option = argument.contains("=") ? argument.substring(0, argument.indexOf('=')) : argument;
        if (!argument.startsWith("-") && !at.getSubcommands().isEmpty()) {
            return "unrecognized subcommand '" + argument + "'";
        }
        String found = "unexpected argument '" + option + "' found";
        OptionSpec global = line.getCommandSpec().findOption(option);
        return at == line || global == null
                ? found
                : found + ": it stands before the command, as in 'nemo-relay " + CommandTree.shown(global) + " "
                        + at.getCommandSpec().qualifiedName().substring("nemo-relay ".length()) + "'";
    }

    /** The one thing left that the parser refuses: a value of an option that takes none. */
    private static String unexpectedValue(CommandLine.ParameterException e, String... arguments) {
        for (OptionSpec option : e.getCommandLine().getCommandSpec().options()) {
            String given = option.longestName() + "=";
            for (String argument : arguments) {
                if (option.arity().max() == 0 && argument.startsWith(given)) {
                    return "unexpected value '" + argument.substring(given.length()) + "' for '" + option.longestName()
                            + "' found; no more were expected";
                }
            }
        }
        return e.getMessage();
    }

    private Parsed command(ParseResult root) {
        List<String> path = new ArrayList<>();
        Map<String, String> flags = new LinkedHashMap<>();
        ParseResult last = root;
        for (ParseResult level = root; level != null; level = level.subcommand()) {
            if (level != root) {
                path.add(level.commandSpec().name());
            }
            if (level.isUsageHelpRequested()) {
                return new Help(level.commandSpec().commandLine().getUsageMessage(Ansi.OFF));
            }
            // Options of `daemon` mean the daemon itself, not one of its companions.
            if (path.size() == 1
                    && level.hasSubcommand()
                    && !level.matchedOptions().isEmpty()) {
                throw new Refusal(
                        level.commandSpec(),
                        "the subcommand '" + level.subcommand().commandSpec().name() + "' cannot be used with '"
                                + CommandTree.shown(level.matchedOptions().getFirst()) + "'");
            }
            for (OptionSpec option : level.matchedOptions()) {
                flags.put(option.longestName().substring(2), checked(level.commandSpec(), option));
            }
            last = level;
        }
        if (flags.containsKey("pass-through") && flags.containsKey("require-worker")) {
            throw new Refusal(
                    last.commandSpec(), "the argument '--pass-through' cannot be used with '--require-worker'");
        }
        for (String word : List.of("log-level", "log-stderr-format")) {
            if (flags.containsKey("log-config-path") && flags.containsKey(word)) {
                throw new Refusal(
                        root.commandSpec(),
                        "the argument '" + CommandTree.shown(root.commandSpec().findOption("--log-config-path"))
                                + "' cannot be used with '"
                                + CommandTree.shown(root.commandSpec().findOption("--" + word)) + "'");
            }
        }
        for (List<String> pair : List.of(List.of("tls-cert", "tls-key"), List.of("tls-key", "tls-cert"))) {
            if (flags.containsKey(pair.getFirst()) && !flags.containsKey(pair.getLast())) {
                throw new Refusal(
                        last.commandSpec(),
                        "the following required arguments were not provided: "
                                + CommandTree.shown(last.commandSpec().findOption("--" + pair.getLast())));
            }
        }
        if (last.commandSpec().name().equals(CommandTree.HELP)) {
            path.removeLast();
            path.addAll(last.unmatched());
            CommandLine asked = line;
            for (String word : path) {
                CommandLine inner = asked.getSubcommands().get(word);
                if (inner == null) {
                    throw new Refusal(asked.getCommandSpec(), "unrecognized subcommand '" + word + "'");
                }
                asked = inner;
            }
            path.add("--help");
            return parse(path.toArray(String[]::new));
        }
        List<String> rest = new ArrayList<>(last.unmatched());
        for (PositionalParamSpec argument : last.matchedPositionals()) {
            if (argument.isMultiValue()) {
                rest.addAll(argument.stringValues());
            } else {
                rest.add(checked(last.commandSpec(), argument));
            }
        }
        return new Run(String.join(" ", path), flags, List.copyOf(rest));
    }

    private String checked(CommandSpec command, ArgSpec argument) {
        Object value = argument.getValue();
        String text = String.valueOf(value);
        try {
            return tree.checks.getOrDefault(argument, ANY).apply(text);
        } catch (RelayException e) {
            throw new Refusal(
                    command,
                    "invalid value '" + text + "' for '" + CommandTree.shown(argument) + "'"
                            + (e.getMessage().startsWith("[") ? " " : ": ") + e.getMessage());
        }
    }

    /** The help of a command, by its path. */
    public String help(String path) {
        CommandLine command = line;
        for (String word : path.isEmpty() ? new String[0] : path.split(" ")) {
            command = command.getSubcommands().get(word);
        }
        return command.getUsageMessage(Ansi.OFF);
    }

    /** The script that makes a shell, one of {@link Completion#SHELLS}, complete these commands. */
    public String completion(String shell) {
        // The two read their arguments themselves; here they have options for the sake of completion only.
        Map<String, CommandLine> daemon = line.getSubcommands().get("daemon").getSubcommands();
        for (String name : List.of("mcp", "hook")) {
            daemon.get(name)
                    .getCommandSpec()
                    .addOption(CommandTree.option(
                                    "--daemon-address", "DAEMON_ADDRESS", "The daemon, with scheme, host and port")
                            .build())
                    .addOption(CommandTree.helpOption());
        }
        daemon.get("hook")
                .getCommandSpec()
                .addOption(CommandTree.flag("Let the agent go on when the hook cannot be delivered", "--fail-open"))
                .addOption(CommandTree.flag("Stop the agent when the hook cannot be delivered", "--fail-closed"))
                .addPositional(PositionalParamSpec.builder()
                        .completionCandidates(List.of("claude", "codex", "pi"))
                        .type(String.class)
                        .build());
        return Completion.script(shell, line);
    }

    private static String missing(CommandLine.MissingParameterException e, String... arguments) {
        ArgSpec argument = e.getMissing().getFirst();
        boolean named =
                argument instanceof OptionSpec option && List.of(arguments).contains(option.longestName());
        return argument.required() && !named
                ? "the following required arguments were not provided: " + CommandTree.shown(argument)
                : "a value is required for '" + CommandTree.shown(argument) + "' but none was supplied";
    }
}
