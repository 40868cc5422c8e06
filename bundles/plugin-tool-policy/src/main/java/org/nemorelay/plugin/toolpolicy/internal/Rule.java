package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
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
        return new Rule(
                Action.of(config, "action", config.string("action")),
                agents(config),
                globs(config, "tools"),
                expressions(config),
                globs(config, "paths"),
                reason);
    }

    /** A rule for tools alone. */
    static Rule deny(List<Pattern> tools) {
        return new Rule(Action.DENY, List.of(), tools, List.of(), List.of(), Optional.empty());
    }

    boolean matches(Call call) {
        return (agents.isEmpty() || call.agent().filter(agents::contains).isPresent())
                && (tools.isEmpty()
                        || any(
                                tools,
                                call.names(),
                                pattern -> name -> pattern.matcher(name).matches()))
                && (commands.isEmpty()
                        || any(
                                commands,
                                call.commands(),
                                pattern -> command -> pattern.matcher(command).find()))
                && (paths.isEmpty()
                        || any(
                                paths,
                                call.paths(),
                                pattern -> path -> pattern.matcher(path).matches()));
    }

    private static boolean any(
            List<Pattern> patterns,
            List<String> values,
            java.util.function.Function<Pattern, Predicate<String>> matches) {
        return patterns.stream().anyMatch(pattern -> values.stream().anyMatch(matches.apply(pattern)));
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

    private static List<Pattern> globs(PluginConfig config, String key) {
        return globs(config, key, strings(config, key));
    }

    static List<Pattern> globs(PluginConfig config, String key, List<String> texts) {
        List<Pattern> patterns = new ArrayList<>();
        for (String text : texts) {
            if (text.isBlank() || !text.equals(text.strip())) {
                throw config.failure(key, "\"" + text + "\" is blank or has blanks around it, so it matches nothing");
            }
            patterns.add(glob(text));
        }
        return List.copyOf(patterns);
    }

    /** {@code *} within a folder's name, {@code **} across folders, {@code ?} one character. */
    private static Pattern glob(String text) {
        StringBuilder pattern = new StringBuilder();
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '*') {
                boolean across = i + 1 < text.length() && text.charAt(i + 1) == '*';
                pattern.append(across ? ".*" : "[^/]*");
                i += across ? 1 : 0;
            } else if (c == '?') {
                pattern.append("[^/]");
            } else {
                pattern.append(Pattern.quote(String.valueOf(c)));
            }
        }
        return Pattern.compile(pattern.toString(), Pattern.DOTALL);
    }
}
