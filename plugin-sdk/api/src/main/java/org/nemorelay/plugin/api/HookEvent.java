package org.nemorelay.plugin.api;

import java.util.Arrays;
import java.util.Optional;
import org.nemorelay.json.JsonObject;

/**
 * A hook as its agent sends it, typed for each agent (plugins.md 5). The accessors read the fields that the agent is known
 * to send; {@link #payload()} has them all, those of later versions too. Immutable.
 */
public sealed interface HookEvent {
    ToolCall.Agent agent();

    /** The event's name as the agent writes it. */
    String name();

    /** The whole hook. */
    JsonObject payload();

    /** The agent's own id of the session. */
    default Optional<String> sessionId() {
        return text("session_id");
    }

    /** The folder that the agent works in. */
    default Optional<String> cwd() {
        return text("cwd");
    }

    /** A field that holds a string; empty where it does not. */
    default Optional<String> text(String key) {
        return Optional.ofNullable(payload().values().get(key))
                .filter(String.class::isInstance)
                .map(String.class::cast);
    }

    /** The typed form of a hook. */
    static HookEvent of(ToolCall.Agent agent, String name, JsonObject payload) {
        return switch (agent) {
            case CODEX -> new Codex(name, payload);
            case CLAUDE_CODE -> new ClaudeCode(name, payload);
            case PI -> new Pi(name, payload);
        };
    }

    /** A hook of Codex. */
    record Codex(String name, JsonObject payload) implements HookEvent {
        /** The events that Codex is known to have. */
        public enum Type {
            SESSION_START,
            SESSION_END,
            USER_PROMPT_SUBMIT,
            PRE_TOOL_USE,
            PERMISSION_REQUEST,
            POST_TOOL_USE,
            PRE_COMPACT,
            POST_COMPACT,
            SUBAGENT_START,
            SUBAGENT_STOP,
            STOP,
            INTERRUPT,
            UNKNOWN
        }

        @Override
        public ToolCall.Agent agent() {
            return ToolCall.Agent.CODEX;
        }

        public Type type() {
            return find(Type.values(), name, Type.UNKNOWN);
        }

        public Optional<String> turnId() {
            return text("turn_id");
        }

        public Optional<String> model() {
            return text("model");
        }

        public Optional<String> permissionMode() {
            return text("permission_mode");
        }

        /** What the user wrote, of a {@link Type#USER_PROMPT_SUBMIT}. */
        public Optional<String> prompt() {
            return text("prompt");
        }
    }

    /** A hook of Claude Code. */
    record ClaudeCode(String name, JsonObject payload) implements HookEvent {
        /** The events that Claude Code is known to have. */
        public enum Type {
            SESSION_START,
            SESSION_END,
            USER_PROMPT_SUBMIT,
            USER_PROMPT_EXPANSION,
            PRE_TOOL_USE,
            PERMISSION_REQUEST,
            PERMISSION_DENIED,
            POST_TOOL_USE,
            POST_TOOL_USE_FAILURE,
            POST_TOOL_BATCH,
            PRE_SKILL_SHELL_COMMAND,
            NOTIFICATION,
            MESSAGE_DISPLAY,
            PRE_COMPACT,
            POST_COMPACT,
            PRE_MODEL_SWITCH,
            POST_MODEL_SWITCH,
            SUBAGENT_START,
            SUBAGENT_STOP,
            STOP,
            STOP_FAILURE,
            SETUP,
            TEAMMATE_IDLE,
            TASK_CREATED,
            TASK_COMPLETED,
            ELICITATION,
            ELICITATION_RESULT,
            CONFIG_CHANGE,
            WORKTREE_CREATE,
            WORKTREE_REMOVE,
            INSTRUCTIONS_LOADED,
            CWD_CHANGED,
            FILE_CHANGED,
            DIRECTORY_ADDED,
            UNKNOWN
        }

        @Override
        public ToolCall.Agent agent() {
            return ToolCall.Agent.CLAUDE_CODE;
        }

        public Type type() {
            return find(Type.values(), name, Type.UNKNOWN);
        }

        public Optional<String> permissionMode() {
            return text("permission_mode");
        }

        /** What the user wrote, of a {@link Type#USER_PROMPT_SUBMIT}. */
        public Optional<String> prompt() {
            return text("prompt");
        }
    }

    /** A hook of Pi, posted by the relay's extension. */
    record Pi(String name, JsonObject payload) implements HookEvent {
        /** The events that the extension posts. */
        public enum Type {
            SESSION_START,
            SESSION_SHUTDOWN,
            AGENT_START,
            AGENT_END,
            AGENT_SETTLED,
            TURN_START,
            TURN_END,
            SESSION_BEFORE_COMPACT,
            SESSION_COMPACT,
            MODEL_SELECT,
            MODEL_REDIRECT,
            TOOL_ARGUMENTS_TRANSFORMED,
            TOOL_CALL,
            TOOL_EXECUTION_END,
            USER_BASH,
            USER_BASH_END,
            UNKNOWN
        }

        @Override
        public ToolCall.Agent agent() {
            return ToolCall.Agent.PI;
        }

        public Type type() {
            return find(Type.values(), name, Type.UNKNOWN);
        }
    }

    /** By name, without case and punctuation. */
    private static <E extends Enum<E>> E find(E[] types, String name, E unknown) {
        String wanted = word(name);
        return Arrays.stream(types)
                .filter(type -> word(type.name()).equals(wanted))
                .findFirst()
                .orElse(unknown);
    }

    private static String word(String name) {
        StringBuilder word = new StringBuilder();
        name.chars()
                .filter(c -> c < 0x80 && Character.isLetterOrDigit(c))
                .map(Character::toLowerCase)
                .forEach(c -> word.append((char) c));
        return word.toString();
    }
}
