package org.nemorelay.worker.internal.hook;

import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.protocol.HookAgent;

/**
 * The hooks by which an agent asks whether it may call a tool, and the word that stops it in each agent's own form
 * (plugins.md 4.3, 5). Stateless.
 */
public final class ToolGate {
    private static final String REJECTED = "nemo_relay_guardrail_rejected";

    /** What a hook is answered. */
    public record Answer(int status, String body) {}

    private ToolGate() {}

    /** The call that a hook asks about; empty for a hook that asks about none. */
    public static Optional<ToolCall> callOf(HookPayload hook) {
        return switch (hook.eventWord()) {
            case "pretooluse", "permissionrequest", "pretoolcall", "toolcall", "userbash" ->
                Optional.of(new ToolCall(
                        agentOf(hook.agent()),
                        hook.eventName(),
                        hook.toolName(),
                        hook.toolCallId(),
                        hook.toolArguments(),
                        JsonObject.of(hook.json(), "")));
            default -> Optional.empty();
        };
    }

    /**
     * Stops the call. Codex and Claude Code are asked for permission in a form of its own; any other gate is the hook
     * process's to close, which the status tells it to do. Codex drops a whole answer for one key that it does not know.
     */
    public static Answer denial(HookPayload hook, String reason) {
        boolean permission = hook.eventWord().equals("permissionrequest");
        if (!permission || hook.agent() == HookAgent.PI) {
            return new Answer(
                    403,
                    Json.write(Map.of(
                            "error",
                            Json.object(
                                    "message", "NeMo Relay runtime error: guardrail rejected: " + reason,
                                    "reason", reason,
                                    "type", REJECTED))));
        }
        Map<String, Object> answer = new TreeMap<>();
        answer.put(
                "hookSpecificOutput",
                Json.object(
                        "decision",
                        Json.object("behavior", "deny", "message", reason),
                        "hookEventName",
                        "PermissionRequest"));
        if (hook.agent() == HookAgent.CLAUDE_CODE) {
            answer.put("continue", true);
        }
        return new Answer(200, Json.write(answer));
    }

    private static ToolCall.Agent agentOf(HookAgent agent) {
        return switch (agent) {
            case CODEX -> ToolCall.Agent.CODEX;
            case CLAUDE_CODE -> ToolCall.Agent.CLAUDE_CODE;
            case PI -> ToolCall.Agent.PI;
        };
    }
}
