package org.nemorelay.plugin.toolpolicy.internal;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.PluginConfig;

/**
 * The configuration: rules in their order, of which the first that matches decides, and what becomes of every other call.
 * Immutable.
 */
record Rules(List<Rule> rules, Rule.Action otherwise, boolean hooks, boolean responses) {
    private static final long CONFIG_VERSION = 1;

    static Rules of(PluginConfig config) {
        config.only("version", "deny", "rules", "default", "surfaces");
        long version = config.integer("version", CONFIG_VERSION, 0, Long.MAX_VALUE);
        if (version != CONFIG_VERSION) {
            throw config.failure("version", version + " is not supported, write version = " + CONFIG_VERSION);
        }
        if (!config.has("deny") && !config.has("rules") && !config.has("default")) {
            throw config.failure(
                    "deny",
                    "missing; write an array of tool names, such as [\"Bash\"], or [[components.config.rules]]");
        }
        List<Rule> rules = new ArrayList<>();
        List<String> denied = config.strings("deny");
        if (!denied.isEmpty()) {
            rules.add(Rule.deny(Rule.globs(config, "deny", denied, Rule.Action.DENY)));
        }
        config.tables("rules").forEach(table -> rules.add(Rule.of(table)));
        List<String> surfaces = config.has("surfaces") ? config.strings("surfaces") : List.of("hooks");
        for (String surface : surfaces) {
            if (!surface.equals("hooks") && !surface.equals("responses")) {
                throw config.failure("surfaces", "\"" + surface + "\" is not one of hooks, responses");
            }
        }
        if (surfaces.isEmpty()) {
            throw config.failure("surfaces", "is empty, so the policy would see nothing");
        }
        return new Rules(
                List.copyOf(rules),
                Rule.Action.of(config, "default", config.string("default", "allow")),
                surfaces.contains("hooks"),
                surfaces.contains("responses"));
    }

    Decision decide(Call call) {
        Optional<Rule> rule = rules.stream().filter(each -> each.matches(call)).findFirst();
        String tool = call.names().getFirst();
        return switch (rule.map(Rule::action).orElse(otherwise)) {
            case ALLOW -> Decision.allow();
            case DENY ->
                Decision.deny(rule.flatMap(Rule::reason)
                        .orElse("the administrator's tool policy denies the tool " + tool + detail(rule)));
            case ASK ->
                Decision.ask(rule.flatMap(Rule::reason)
                        .orElse("the administrator's tool policy wants the user to decide about the tool " + tool));
        };
    }

    /** Why a call of a model's answer is taken out; empty where it stays. A question is the hook's to ask. */
    Optional<String> taken(Call call) {
        return switch (decide(call)) {
            case Decision.Allow() -> Optional.empty();
            case Decision.Deny(String reason) -> Optional.of(reason);
            case Decision.Ask(String reason) -> hooks ? Optional.empty() : Optional.of(reason);
        };
    }

    private static String detail(Optional<Rule> rule) {
        if (rule.isEmpty()) {
            return "";
        }
        return (rule.get().commands().isEmpty() ? "" : " with this command")
                + (rule.get().paths().isEmpty() ? "" : " for this path");
    }
}
