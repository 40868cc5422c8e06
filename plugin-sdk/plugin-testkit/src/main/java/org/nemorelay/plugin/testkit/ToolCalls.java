package org.nemorelay.plugin.testkit;

import java.util.Map;
import java.util.Optional;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.ToolCall;

/** Tool calls as agents ask about them. */
public final class ToolCalls {
    private ToolCalls() {}

    /** A shell command. */
    public static ToolCall shell(ToolCall.Agent agent, String command) {
        return of(agent, agent == ToolCall.Agent.PI ? "bash" : "Bash", Map.of("command", command));
    }

    /** A call of any tool, asked about before it is made. */
    public static ToolCall of(ToolCall.Agent agent, String tool, Map<String, Object> input) {
        boolean pi = agent == ToolCall.Agent.PI;
        Map<String, Object> payload = pi
                ? Json.object("type", "tool_call", "toolName", tool, "toolCallId", "call_1", "input", input)
                : Json.object(
                        "session_id", "session_1",
                        "cwd", "/srv/project",
                        "hook_event_name", "PreToolUse",
                        "tool_name", tool,
                        "tool_input", input,
                        "tool_use_id", "call_1");
        return new ToolCall(
                agent, pi ? "tool_call" : "PreToolUse", tool, Optional.of("call_1"), input, JsonObject.of(payload, ""));
    }
}
