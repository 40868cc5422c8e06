package org.nemorelay.plugin.toolpolicy.internal;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.Part;
import org.nemorelay.plugin.api.ToolCall;

/**
 * A tool call as rules see it, from a hook or from a model's answer.
 *
 * @param agent empty where an answer's agent is not known
 * @param names by which rules may mean it, the agent's own first
 * @param commands that it would run
 * @param paths that it names, absolute where the working folder is known
 */
record Call(Optional<ToolCall.Agent> agent, List<String> names, List<String> commands, List<String> paths) {
    private static final List<String> COMMANDS = List.of("command", "cmd", "script");
    private static final List<String> PATHS = List.of(
            "file_path", "path", "notebook_path", "file", "filename", "target_file", "directory", "paths", "files");

    /** What Codex calls its shell towards the model; its hooks say Bash. */
    private static final Set<String> CODEX_SHELLS = Set.of("exec_command", "shell", "local_shell", "shell_command");

    private static final List<String> PATCH_MARKS =
            List.of("*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: ");

    static Call of(ToolCall call) {
        return new Call(
                Optional.of(call.agent()),
                List.of(call.tool()),
                commands(call.input()),
                paths(call.input(), call.hook().cwd()));
    }

    /** A call that a model asks for. */
    static Call of(ModelRequest request, String tool, Object input) {
        Optional<ToolCall.Agent> agent = agentOf(request);
        boolean codexShell = agent.equals(Optional.of(ToolCall.Agent.CODEX)) && CODEX_SHELLS.contains(tool);
        return new Call(
                agent,
                codexShell ? List.of(tool, "Bash") : List.of(tool),
                commands(input),
                paths(input, Optional.empty()));
    }

    static Call of(ModelRequest request, Part.ToolUse use) {
        return of(request, use.name(), use.input());
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

    private static List<String> commands(Object input) {
        List<String> commands = new ArrayList<>();
        if (input instanceof String text) {
            commands.add(text);
        }
        for (String key : COMMANDS) {
            switch (input instanceof Map<?, ?> map ? map.get(key) : null) {
                case String text -> commands.add(text);
                case List<?> words ->
                    commands.add(
                            String.join(" ", words.stream().map(String::valueOf).toList()));
                case null, default -> {}
            }
        }
        return List.copyOf(commands);
    }

    private static List<String> paths(Object input, Optional<String> cwd) {
        List<String> paths = new ArrayList<>();
        if (input instanceof Map<?, ?> map) {
            for (String key : PATHS) {
                collect(map.get(key), paths);
            }
            for (Object value : map.values()) {
                patched(value, paths);
            }
            if (map.get("edits") instanceof List<?> edits) {
                edits.forEach(edit -> paths.addAll(paths(edit, Optional.empty())));
            }
        } else {
            patched(input, paths);
        }
        return paths.stream().map(path -> absolute(path, cwd)).distinct().toList();
    }

    private static void collect(Object value, List<String> paths) {
        switch (value) {
            case String text -> paths.add(text);
            case List<?> list -> list.forEach(item -> collect(item, paths));
            case null, default -> {}
        }
    }

    /** The files of a patch in Codex's form. */
    private static void patched(Object value, List<String> paths) {
        if (value instanceof String text && text.contains("*** ")) {
            text.lines()
                    .forEach(line -> PATCH_MARKS.stream()
                            .filter(line::startsWith)
                            .forEach(mark ->
                                    paths.add(line.substring(mark.length()).strip())));
        }
    }

    /** Without {@code ..}, by which a path could step around a pattern. */
    private static String absolute(String path, Optional<String> cwd) {
        try {
            String home = path.equals("~") || path.startsWith("~/") ? System.getProperty("user.home") : "";
            Path given = home.isEmpty() ? Path.of(path) : Path.of(home + path.substring(1));
            return (cwd.isPresent() ? Path.of(cwd.get()).resolve(given) : given)
                    .normalize()
                    .toString();
        } catch (InvalidPathException e) {
            return path;
        }
    }
}
