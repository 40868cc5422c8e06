package org.nemorelay.plugin.toolpolicy.internal;

import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.ToolCall;

/**
 * One rule: what it says to the calls that everything it names applies to. An empty list applies to every call.
 *
 * @param reason for the model and the user; empty for the usual one
 */
record Rule(
        Action action,
        List<ToolCall.Agent> agents,
        List<Pattern> tools,
        List<Pattern> commands,
        List<Pattern> paths,
        Optional<String> reason) {

    private static final Pattern UNSEEN = Pattern.compile("\\p{Cf}");
    private static final Pattern BEGUN = Pattern.compile("^(?:$|/|~/|~$|\\*\\*)");
    private static final Pattern ROUNDABOUT = Pattern.compile("//|/\\.\\.?(?:/|$)|./$");

    /** What becomes of a call. */
    enum Action {
        ALLOW,
        DENY,
        ASK;

        static Action of(PluginConfig config, String key, String word) {
            return switch (word) {
                case "allow" -> ALLOW;
                case "deny" -> DENY;
                case "ask" -> ASK;
                default -> throw config.failure(key, "\"" + word + "\" is not one of allow, deny, ask");
            };
        }
    }

    static Rule of(PluginConfig config) {
        config.only("action", "agents", "tools", "commands", "paths", "reason");
        if (!config.has("action")) {
            throw config.failure("action", "missing; write allow, deny or ask");
        }
        Optional<String> reason = config.optionalString("reason");
        if (reason.filter(String::isBlank).isPresent()) {
            throw config.failure("reason", "is blank; write why, or remove it");
        }
        Action action = Action.of(config, "action", config.string("action"));
        return new Rule(
                action,
                agents(config),
                globs(config, "tools", strings(config, "tools"), action),
                expressions(config),
                places(config, action),
                reason);
    }

    /** A rule for tools alone. */
    static Rule deny(List<Pattern> tools) {
        return new Rule(Action.DENY, List.of(), tools, List.of(), List.of(), Optional.empty());
    }

    boolean matches(Call call) {
        return (agents.isEmpty() || call.agent().filter(agents::contains).isPresent())
                && (action == Action.ALLOW ? allows(call) : concerns(call));
    }

    /** All that the call does is what the rule names. What cannot be read cannot be allowed. */
    private boolean allows(Call call) {
        return call.sure()
                && (tools.isEmpty() || call.names().stream().anyMatch(name -> matched(tools, name)))
                && (commands.isEmpty()
                        || call.commandsSure()
                                && !call.commands().isEmpty()
                                && call.commands().stream().map(Shell::of).allMatch(this::allows))
                && (paths.isEmpty()
                        || call.pathsSure()
                                && !(call.runs() && commands.isEmpty())
                                && !call.paths().isEmpty()
                                && call.paths().stream().allMatch(path -> matched(paths, path)));
    }

    private boolean allows(Shell shell) {
        return shell.certain() && shell.commands().stream().allMatch(command -> found(commands, command));
    }

    /** Something that the call does, or may do, is what the rule names, whatever its case. */
    private boolean concerns(Call call) {
        return (tools.isEmpty()
                        || call.names().stream()
                                .anyMatch(name ->
                                        matched(tools, name, folded(name).strip())))
                && (commands.isEmpty()
                        || !call.commandsSure()
                        || call.commands().stream()
                                .anyMatch(command -> Meant.any(command, meant -> found(commands, meant))))
                && (paths.isEmpty()
                        || !call.pathsSure()
                        || call.paths().stream()
                                .anyMatch(path -> matched(paths, path, folded(path), within(folded(path)))));
    }

    private static boolean matched(List<Pattern> patterns, String... spellings) {
        return patterns.stream()
                .anyMatch(pattern -> Arrays.stream(spellings)
                        .anyMatch(spelling -> pattern.matcher(spelling).matches()));
    }

    private static boolean found(List<Pattern> patterns, String text) {
        return patterns.stream().anyMatch(pattern -> pattern.matcher(text).find());
    }

    /** A folder's name stands for what is in it. */
    private static String within(String path) {
        return path.isEmpty() ? path : path + "/";
    }

    /** Without what looks the same and is not. */
    private static String folded(String text) {
        return UNSEEN.matcher(Normalizer.normalize(text, Normalizer.Form.NFKC)).replaceAll("");
    }

    private static List<ToolCall.Agent> agents(PluginConfig config) {
        List<ToolCall.Agent> agents = new ArrayList<>();
        for (String word : strings(config, "agents")) {
            ToolCall.Agent agent = switch (word) {
                case "codex" -> ToolCall.Agent.CODEX;
                case "claude-code" -> ToolCall.Agent.CLAUDE_CODE;
                case "pi" -> ToolCall.Agent.PI;
                default -> throw config.failure("agents", "\"" + word + "\" is not one of codex, claude-code, pi");
            };
            agents.add(agent);
        }
        return List.copyOf(agents);
    }

    private static List<Pattern> expressions(PluginConfig config) {
        List<Pattern> patterns = new ArrayList<>();
        for (String text : strings(config, "commands")) {
            if (text.isBlank()) {
                throw config.failure(
                        "commands", "\"" + text + "\" is blank, so it matches every command; write .* to mean that");
            }
            try {
                patterns.add(Pattern.compile(text));
            } catch (PatternSyntaxException e) {
                throw config.failure("commands", "\"" + text + "\" is no regular expression: " + e.getDescription());
            }
        }
        return List.copyOf(patterns);
    }

    /** A list that is there and empty would apply to everything without a word. */
    private static List<String> strings(PluginConfig config, String key) {
        List<String> strings = config.strings(key);
        if (config.has(key) && strings.isEmpty()) {
            throw config.failure(key, "is empty; name something, or remove it to mean every call");
        }
        return strings;
    }

    /** Patterns that no path can match would say nothing, without a word. */
    private static List<Pattern> places(PluginConfig config, Action action) {
        String home = System.getProperty("user.home");
        List<String> texts = strings(config, "paths");
        for (String text : texts) {
            if (!BEGUN.matcher(text.strip()).find()) {
                throw config.failure("paths", "\"" + text + "\" matches nothing; begin it with /, ~/ or **/");
            }
            if (ROUNDABOUT.matcher(text.strip()).find()) {
                throw config.failure(
                        "paths", "\"" + text + "\" matches nothing; write it without //, /./, /../ and a / at its end");
            }
        }
        return globs(
                config,
                "paths",
                texts.stream()
                        .map(text -> text.startsWith("~") ? home + text.substring(1) : text)
                        .toList(),
                action);
    }

    /** Case counts for what is allowed, and for nothing else. */
    static List<Pattern> globs(PluginConfig config, String key, List<String> texts, Action action) {
        int flags = action == Action.ALLOW
                ? Pattern.DOTALL
                : Pattern.DOTALL | Pattern.CASE_INSENSITIVE | Pattern.UNICODE_CASE;
        List<Pattern> patterns = new ArrayList<>();
        for (String text : texts) {
            if (text.isBlank() || !text.equals(text.strip())) {
                throw config.failure(key, "\"" + text + "\" is blank or has blanks around it, so it matches nothing");
            }
            patterns.add(glob(action == Action.ALLOW ? text : folded(text), flags));
        }
        return List.copyOf(patterns);
    }

    /**
     * {@code *} within a folder's name, {@code **} across folders or none ({@code /x/**} is {@code /x} too), {@code ?} one
     * character.
     */
    private static Pattern glob(String text, int flags) {
        StringBuilder pattern = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            boolean begins = i == 0 || text.charAt(i - 1) == '/';
            if (begins && text.startsWith("**/", i)) {
                pattern.append("(?:.*/)?");
                i += 2;
            } else if (i > 0 && text.substring(i).equals("/**")) {
                pattern.append("(?:/.*)?");
                i += 2;
            } else if (c == '*') {
                boolean across = i + 1 < text.length() && text.charAt(i + 1) == '*';
                pattern.append(across ? ".*" : "[^/]*");
                i += across ? 1 : 0;
            } else if (c == '?') {
                pattern.append("[^/]");
            } else {
                pattern.append(Pattern.quote(String.valueOf(c)));
            }
        }
        return Pattern.compile(pattern.toString(), flags);
    }
}
