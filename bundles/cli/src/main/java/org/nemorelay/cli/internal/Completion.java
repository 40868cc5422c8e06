package org.nemorelay.cli.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** Scripts with which a shell completes the command line. */
final class Completion {
    static final List<String> SHELLS = List.of("bash", "zsh", "fish");

    private static final String PROGRAM = "nemo-relay";

    private Completion() {}

    static String script(String shell, CommandLine line) {
        // In zsh the script of bash loads bashcompinit itself.
        return shell.equals("fish") ? fish(line) : bash(line);
    }

    /** The generator's introduction speaks of installing its own files; this one says how to use what was printed. */
    private static String bash(CommandLine line) {
        String script = AutoComplete.bash(PROGRAM, line);
        int code = script.indexOf("\nif [ -n \"$BASH_VERSION\" ]");
        if (code < 0) {
            throw new IllegalStateException("the completion script does not begin as expected");
        }
        return """
                # Completion of nemo-relay's commands for bash and zsh. Either load it in ~/.bashrc or ~/.zshrc with
                #     eval "$(nemo-relay completion bash)"
                # or keep it as a file: nemo-relay completion bash > ~/.local/share/bash-completion/completions/nemo-relay
                """ + script.substring(code);
    }

    private static String fish(CommandLine line) {
        TreeSet<String> words = new TreeSet<>();
        TreeSet<String> valued = new TreeSet<>();
        StringBuilder rules = new StringBuilder();
        commands(line.getCommandSpec(), List.of(), words, valued, rules);
        return """
                # The commands given so far are these; other words are values.
                function __nemo_relay_at
                    set -l path
                    set -l value no
                    for word in (commandline -opc)[2..-1]
                        if test $value = yes
                            set value no
                            continue
                        end
                        switch $word
                            case %s
                                set value yes
                            case %s
                                set -a path $word
                        end
                    end
                    test "$path" = "$argv"
                end

                complete -c nemo-relay -f
                """.formatted(String.join(" ", valued), String.join(" ", words)) + rules;
    }

    private static void commands(
            CommandSpec command,
            List<String> path,
            TreeSet<String> words,
            TreeSet<String> valued,
            StringBuilder rules) {
        String here = "complete -c " + PROGRAM + " -n '__nemo_relay_at "
                + (path.isEmpty() ? "\"\"" : String.join(" ", path)) + "'";
        for (OptionSpec option : command.options()) {
            if (option.hidden()) {
                continue;
            }
            rules.append(here);
            for (String name : option.names()) {
                rules.append(name.startsWith("--") ? " -l " + name.substring(2) : " -s " + name.substring(1));
            }
            if (option.arity().max() > 0) {
                valued.add(option.longestName());
                rules.append(option.longestName().equals("--config") ? " -rF" : " -x");
            }
            rules.append(candidates(option)).append(described(String.join(" ", option.description())));
        }
        command.positionalParameters()
                .forEach(argument ->
                        rules.append(here).append(candidates(argument)).append('\n'));
        command.subcommands().forEach((name, line) -> {
            CommandSpec inner = line.getCommandSpec();
            words.add(name);
            if (!name.equals(inner.name())) {
                return; // Another name of the same command.
            }
            rules.append(here)
                    .append(" -a ")
                    .append(name)
                    .append(described(inner.usageMessage().description()[0]));
            List<String> deeper = new ArrayList<>(path);
            deeper.add(name);
            commands(inner, deeper, words, valued, rules);
        });
    }

    private static String candidates(ArgSpec argument) {
        Iterable<String> candidates = argument.completionCandidates();
        return candidates == null ? "" : " -a '" + String.join(" ", candidates) + "'";
    }

    private static String described(String text) {
        return " -d '" + text.replace("\\", "\\\\").replace("'", "\\'") + "'\n";
    }
}
