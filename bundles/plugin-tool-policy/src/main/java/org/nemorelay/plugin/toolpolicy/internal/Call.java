package org.nemorelay.plugin.toolpolicy.internal;

import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ToolCall;

/**
 * A tool call as rules see it, from a hook or from a model's answer.
 *
 * @param agent empty where an answer's agent is not known
 * @param names by which rules may mean it, the agent's own first
 * @param commands that it would run, as the shell gets them
 * @param paths that it names, absolute where the working folder is known
 * @param sure whether name and arguments can be told for sure
 * @param commandsSure whether these are all commands
 * @param pathsSure whether these are all paths, and where they lead
 */
record Call(
        Optional<ToolCall.Agent> agent,
        List<String> names,
        List<String> commands,
        List<String> paths,
        boolean sure,
        boolean commandsSure,
        boolean pathsSure) {
    /** What Codex calls its shell towards the model; its hooks say Bash. */
    private static final Set<String> CODEX_SHELLS =
            Set.of("exec_command", "write_stdin", "shell", "local_shell", "shell_command", "container.exec");

    private static final Set<String> SHELLS = Set.of("Bash", "bash", "user_bash");
    private static final Set<String> COMMANDS = Set.of("command", "cmd", "script", "commands", "chars");
    private static final Set<String> PATHS =
            Set.of("file", "files", "filename", "directory", "dir", "folder", "source", "destination");
    private static final Set<String> INTERPRETERS = Set.of("sh", "bash", "zsh", "dash", "ksh", "ash", "fish");

    /** As readers of URLs take it, who drop what cannot be seen and do not look at the case. */
    private static final Pattern FILE_URL = Pattern.compile("^(?:url:)*file:", Pattern.CASE_INSENSITIVE);

    private static final Pattern UNSEEN_IN_URL = Pattern.compile("^[\\x00-\\x20]+|[\\t\\r\\n]");

    private static final List<String> PATCH_MARKS =
            List.of("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ");

    static Call of(ToolCall call) {
        boolean object = call.input() instanceof Map<?, ?>;
        return of(
                Optional.of(call.agent()),
                List.of(call.tool()),
                call.input(),
                object,
                call.hook().cwd());
    }

    /**
     * A call that a model asks for.
     *
     * @param sure whether that is all of its name and arguments
     */
    static Call of(ModelRequest request, List<String> names, Object input, boolean sure) {
        return of(agentOf(request), names, input, sure, Optional.empty());
    }

    private static Call of(
            Optional<ToolCall.Agent> agent, List<String> names, Object input, boolean sure, Optional<String> cwd) {
        Set<String> all = new LinkedHashSet<>(names);
        if (names.stream().anyMatch(CODEX_SHELLS::contains)) {
            all.add("Bash");
        }
        Reading reading = new Reading();
        if (input instanceof String text) {
            reading.commands.add(text);
        }
        reading.walk("", input);
        boolean shell = all.stream().anyMatch(SHELLS::contains);
        List<String> paths = new ArrayList<>();
        boolean led = true;
        for (String path : reading.paths) {
            for (Optional<String> absolute : readings(path, cwd)) {
                paths.add(absolute.orElse(path));
                led &= absolute.filter(found -> !found.equals("..") && !found.startsWith("../"))
                        .isPresent();
            }
        }
        return new Call(
                agent,
                List.copyOf(all),
                List.copyOf(reading.commands),
                paths.stream().distinct().toList(),
                sure,
                sure && !(shell && reading.commands.isEmpty()),
                sure && led);
    }

    private static Optional<ToolCall.Agent> agentOf(ModelRequest request) {
        String client = request.headers().first("user-agent").orElse("");
        if (client.startsWith("codex") || request.headers().has("originator")) {
            return Optional.of(ToolCall.Agent.CODEX);
        }
        if (client.startsWith("claude-cli") || request.headers().has("x-claude-code-session-id")) {
            return Optional.of(ToolCall.Agent.CLAUDE_CODE);
        }
        return client.startsWith("pi") ? Optional.of(ToolCall.Agent.PI) : Optional.empty();
    }

    /** Commands and paths of arguments, at any depth: by their keys, whatever their case and punctuation. */
    private static final class Reading {
        private final List<String> commands = new ArrayList<>();
        private final List<String> paths = new ArrayList<>();

        void walk(String key, Object value) {
            switch (value) {
                case Map<?, ?> map -> {
                    map.forEach((name, member) -> walk(word(String.valueOf(name)), member));
                    withArguments(map);
                }
                case List<?> words
                when key.equals("command") || key.equals("cmd") -> {
                    commands.add(words(words));
                    words.forEach(word -> walk("", word));
                }
                case List<?> list -> list.forEach(item -> walk(key, item));
                case String text -> text(key, text);
                case null, default -> {}
            }
        }

        /** A program and, beside it, its arguments. */
        private void withArguments(Map<?, ?> map) {
            Map<String, Object> members = new HashMap<>();
            map.forEach((name, member) -> members.put(word(String.valueOf(name)), member));
            for (String program : List.of("command", "cmd")) {
                for (String arguments : List.of("args", "arguments", "argv")) {
                    if (members.get(program) instanceof String name
                            && members.get(arguments) instanceof List<?> list
                            && !list.isEmpty()) {
                        commands.add(name + " " + quoted(list));
                    }
                }
            }
        }

        private void text(String key, String text) {
            if (COMMANDS.contains(key) || key.endsWith("command") || key.endsWith("commandline")) {
                commands.add(text);
            }
            if (PATHS.contains(key)
                    || key.endsWith("path")
                    || key.endsWith("paths")
                    || key.endsWith("file") && !key.endsWith("profile")
                    || fileUrl(text).isPresent()) {
                paths.add(text);
            }
            if (text.contains("*** ")) {
                // The files of a patch in Codex's form.
                text.lines()
                        .forEach(line -> PATCH_MARKS.stream()
                                .filter(line::startsWith)
                                .forEach(mark ->
                                        paths.add(line.substring(mark.length()).strip())));
            }
        }

        private static String quoted(List<?> words) {
            return String.join(
                    " ", words.stream().map(String::valueOf).map(Shell::quoted).toList());
        }

        private static String word(String key) {
            return key.replaceAll("[^A-Za-z]", "").toLowerCase(Locale.ROOT);
        }

        /** A command that no shell takes apart, or what it gives to one that does. */
        private static String words(List<?> list) {
            List<String> words = list.stream().map(String::valueOf).toList();
            if (words.size() == 3
                    && INTERPRETERS.contains(
                            words.getFirst().substring(words.getFirst().lastIndexOf('/') + 1))
                    && words.get(1).matches("-[a-z]*c")) {
                return words.get(2);
            }
            return quoted(words);
        }
    }

    /** The file's URL in its plain spelling; empty for what is none. */
    private static Optional<String> fileUrl(String text) {
        String seen = UNSEEN_IN_URL.matcher(text).replaceAll("");
        Matcher scheme = FILE_URL.matcher(seen);
        return scheme.find()
                ? Optional.of("file:" + seen.substring(scheme.end()).replace('\\', '/'))
                : Optional.empty();
    }

    /** Where a tool may go: one that knows no URLs takes theirs for a folder's name, which {@code ..} steps out of. */
    private static List<Optional<String>> readings(String path, Optional<String> cwd) {
        Optional<String> url = fileUrl(path);
        if (url.isEmpty()) {
            return List.of(absolute(path, cwd));
        }
        return path.contains("..") ? List.of(ofUrl(url.get()), absolute(path, cwd)) : List.of(ofUrl(url.get()));
    }

    private static Optional<String> ofUrl(String url) {
        try {
            return Optional.of(Path.of(URI.create(url)).normalize().toString());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }

    /** Without {@code ..}, by which a path could step around a pattern; empty for what is no path. */
    private static Optional<String> absolute(String path, Optional<String> cwd) {
        try {
            String home = path.equals("~") || path.startsWith("~/") ? System.getProperty("user.home") : "";
            Path given = home.isEmpty() ? Path.of(path) : Path.of(home + path.substring(1));
            return Optional.of((cwd.isPresent() ? Path.of(cwd.get()).resolve(given) : given)
                    .normalize()
                    .toString());
        } catch (IllegalArgumentException e) {
            return Optional.empty();
        }
    }
}
