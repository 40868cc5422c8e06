package org.nemorelay.worker.internal.hook;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.HookEvent;
import org.nemorelay.pluginhost.Judgement;
import org.nemorelay.pluginhost.Judgement.Verdict;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.protocol.HookAgent;

/**
 * Every decision to every event of every agent, held against what the agents take: Codex drops a whole answer for one key
 * that it does not know, and the tool runs (harnesses.md 1.5, 2.4, 3.3).
 */
class HookAnswersTest {
    private static final String REASON = "no \"this\" \n é";
    private static final Map<String, Verdict> VERDICTS = Map.of(
            "allow", new Verdict.Allowed(),
            "deny", new Verdict.Denied(REASON),
            "ask", new Verdict.Asked(REASON),
            "failed", new Verdict.Failed(REASON));

    private static List<String> events(HookAgent agent) {
        Stream<String> types = switch (agent) {
            case CODEX -> Arrays.stream(HookEvent.Codex.Type.values()).map(Enum::name);
            case CLAUDE_CODE ->
                Arrays.stream(HookEvent.ClaudeCode.Type.values()).map(Enum::name);
            case PI -> Arrays.stream(HookEvent.Pi.Type.values()).map(Enum::name);
        };
        return types.map(name -> agent == HookAgent.PI ? name.toLowerCase(java.util.Locale.ROOT) : camel(name))
                .toList();
    }

    private static String camel(String name) {
        StringBuilder camel = new StringBuilder();
        for (String word : name.split("_")) {
            camel.append(word.charAt(0)).append(word.substring(1).toLowerCase(java.util.Locale.ROOT));
        }
        return camel.toString();
    }

    private static HookPayload hook(HookAgent agent, String event) {
        if (event.equals("user_bash")) {
            return new HookPayload(agent, Json.object("type", event, "command", "ls"));
        }
        return new HookPayload(
                agent,
                agent == HookAgent.PI
                        ? Json.object(
                                "type",
                                event,
                                "toolName",
                                "bash",
                                "toolCallId",
                                "c",
                                "input",
                                Map.of(),
                                "command",
                                "ls")
                        : Json.object(
                                "session_id", "s",
                                "hook_event_name", event,
                                "tool_name", "Bash",
                                "tool_input", Map.of("command", "ls"),
                                "tool_use_id", "c"));
    }

    private static ToolGate.Answer answer(HookPayload hook, Verdict verdict) {
        Ruling ruling = ToolGate.questionOf(hook) instanceof ToolGate.Question.Call
                ? ToolGate.settled(hook, new Ruling(List.of(new Judgement("p", Instant.EPOCH, Instant.EPOCH, verdict))))
                : Ruling.NONE;
        return ToolGate.answer(hook, ruling);
    }

    /** The events before which an agent asks; it takes a denial at no other. */
    private static Set<String> gates(HookAgent agent) {
        if (agent == HookAgent.CLAUDE_CODE) {
            return Set.of("PreToolUse", "PermissionRequest", "PreSkillShellCommand", "Unknown");
        }
        return agent == HookAgent.PI
                ? Set.of("tool_call", "user_bash", "unknown")
                : Set.of("PreToolUse", "PermissionRequest", "Unknown");
    }

    @ParameterizedTest
    @EnumSource
    void everyDecisionIsInTheAgentsOwnForm(HookAgent agent) {
        List<String> denied = new ArrayList<>();
        for (String event : events(agent)) {
            VERDICTS.forEach((word, verdict) -> {
                String what = agent + " " + event + " " + word;
                ToolGate.Answer answer = answer(hook(agent, event), verdict);
                boolean permission = event.equals("PermissionRequest");
                boolean gate = gates(agent).contains(event);
                boolean asks = agent == HookAgent.CLAUDE_CODE && event.equals("PreToolUse");
                boolean denies = gate
                        && switch (word) {
                            case "deny", "failed" -> true;
                            case "ask" -> !asks && !permission;
                            default -> false;
                        };
                if (denies && !permission) {
                    // The hook process tells the agent by exit status 2, Pi's extension by blocking: both read the
                    // reason here.
                    denied.add(event);
                    assertEquals(403, answer.status(), what);
                    JsonObject error = Json.parseObject(answer.body()).object("error");
                    assertEquals("nemo_relay_guardrail_rejected", error.string("type"), what);
                    assertEquals(REASON, error.string("reason"), what);
                    return;
                }
                assertEquals(200, answer.status(), what);
                JsonObject body = Json.parseObject(answer.body());
                if (denies) {
                    JsonObject decision = specific(agent, event, body).object("decision");
                    assertEquals(
                            Set.of("behavior", "message"), decision.values().keySet(), what);
                    assertEquals("deny", decision.string("behavior"), what);
                    assertEquals(REASON, decision.string("message"), what);
                } else if (asks && word.equals("ask")) {
                    JsonObject specific = specific(agent, event, body);
                    assertEquals("ask", specific.string("permissionDecision"), what);
                    assertEquals(REASON, specific.string("permissionDecisionReason"), what);
                } else {
                    assertEquals(agent == HookAgent.CLAUDE_CODE ? "{\"continue\":true}" : "{}", answer.body(), what);
                }
            });
        }
        assertFalse(denied.isEmpty());
    }

    /** What stands in an answer beside the keys that the agent knows for every event. */
    private static JsonObject specific(HookAgent agent, String event, JsonObject body) {
        assertEquals(
                agent == HookAgent.CLAUDE_CODE
                        ? Set.of("continue", "hookSpecificOutput")
                        : Set.of("hookSpecificOutput"),
                body.values().keySet());
        JsonObject specific = body.object("hookSpecificOutput");
        assertEquals(event, specific.string("hookEventName"));
        assertTrue(Set.of("hookEventName", "decision", "permissionDecision", "permissionDecisionReason")
                .containsAll(specific.values().keySet()));
        return specific;
    }
}
