package org.nemorelay.plugin.api;

import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.JsonObject;

/**
 * A tool call that a coding agent is about to make, as its hook tells it (plugins.md 5). JSON values are those of {@link
 * org.nemorelay.json.Json}, unmodifiable, keys sorted at every depth.
 *
 * @param agent whose call
 * @param event the hook event's name as the agent writes it: {@code PreToolUse}, {@code PermissionRequest}, {@code
 *     tool_call}, {@code user_bash}
 * @param tool the tool's name as the agent writes it; {@code user_bash} for a command that Pi's user typed
 * @param id the call's id; empty where the agent gives none, as Claude Code does with a {@code PermissionRequest}
 * @param input the arguments, any JSON value; an empty object where there are none
 * @param payload the whole hook
 */
public record ToolCall(Agent agent, String event, String tool, Optional<String> id, Object input, JsonObject payload) {

    /** The coding agents whose hooks reach the relay. */
    public enum Agent {
        CODEX("codex"),
        CLAUDE_CODE("claude-code"),
        PI("pi");

        private final String word;

        Agent(String word) {
            this.word = word;
        }

        /** The word in records and configuration. */
        public String word() {
            return word;
        }
    }

    public ToolCall {
        input = Event.frozen(input);
        payload = JsonObject.of(Event.frozen(payload), "");
    }

    /** The arguments as an object; empty where they are none. */
    public JsonObject arguments() {
        return JsonObject.of(input instanceof Map<?, ?> ? input : Map.of(), "input");
    }

    /** The hook in its agent's own terms. */
    public HookEvent hook() {
        return HookEvent.of(agent, event, payload);
    }

    /** Leaves the arguments out: they may hold secrets. */
    @Override
    public String toString() {
        return agent.word() + " " + event + " " + tool + " " + id.orElse("");
    }
}
