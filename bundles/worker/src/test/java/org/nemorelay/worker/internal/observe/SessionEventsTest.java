package org.nemorelay.worker.internal.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.pluginhost.Judgement;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.protocol.HookAgent;
import org.nemorelay.worker.internal.hook.HookPayload;

class SessionEventsTest {
    private final List<Event> events = new ArrayList<>();
    private final SessionEvents sessions = new SessionEvents(new Scopes(this::nextId, events::add), Map::of);
    private Instant now = Instant.parse("2026-03-04T05:06:07Z");
    private int ids;

    @Test
    void aPromptEndsTheTurnBeforeIt() {
        claude("a", "UserPromptSubmit", "");
        claude("a", "UserPromptSubmit", "");
        assertEquals(List.of("start claude-code-turn", "end claude-code-turn", "start claude-code-turn"), seen());
        assertEquals(
                Map.of("status", "superseded_by_next_turn"),
                events.get(1).data().orElseThrow());
        assertEquals(2L, events.get(2).metadata().values().get("turn_index"));
    }

    @Test
    void aPromptAfterItsRequestIsAMark() {
        claude("a", "SessionStart", "");
        call("/v1/messages", Map.of("x-claude-code-session-id", "a"));
        claude("a", "UserPromptSubmit", "");
        assertEquals(
                List.of(
                        "mark session.start",
                        "start claude-code-turn",
                        "start anthropic.messages",
                        "mark prompt_submitted"),
                seen());
        assertEquals("implicit", events.get(1).metadata().string("turn_source"));
    }

    @Test
    void aStopEndsWhatRuns() {
        claude("a", "UserPromptSubmit", "");
        claude("a", "PreToolUse", ",\"tool_name\":\"Bash\",\"tool_use_id\":\"t\",\"tool_input\":{\"x\":1}");
        claude("a", "PreToolUse", ",\"tool_name\":\"Bash\",\"tool_use_id\":\"t\"");
        claude("a", "SubagentStart", ",\"agent_id\":\"s\"");
        ModelCall call = call("/v1/messages", Map.of());
        claude("a", "Stop", "");
        assertEquals(
                List.of(
                        "start claude-code-turn",
                        "start Bash",
                        "start subagent:s",
                        "start anthropic.messages",
                        "end Bash",
                        "end anthropic.messages",
                        "end subagent:s",
                        "end claude-code-turn"),
                seen());
        assertEquals("closed_by_turn_end", events.get(4).metadata().string("status"));
        sessions.callEnded(
                now, call, new CallResult(200, Terminal.COMPLETE, false, Optional.empty(), Optional.empty()));
        assertEquals(8, events.size(), "an end is told once");
    }

    @Test
    void aFailedToolSaysWhy() {
        claude("a", "PreToolUse", ",\"tool_name\":\"mcp__s__t\",\"tool_use_id\":\"t\"");
        claude("a", "PostToolUseFailure", ",\"tool_name\":\"mcp__s__t\",\"tool_use_id\":\"t\",\"error\":\"boom\"");
        Event end = events.getLast();
        assertEquals(Map.of("error", "boom"), end.data().orElseThrow());
        assertEquals("error", end.metadata().string("status"));
        assertEquals("tools/call", end.metadata().string("mcp.method.name"));
        assertEquals(Map.of(), events.get(1).data().orElseThrow());
    }

    @Test
    void aToolOfASubAgentIsItsOwn() {
        claude("a", "SubagentStart", ",\"agent_id\":\"s1\"");
        claude("a", "PreToolUse", ",\"agent_id\":\"s1\",\"tool_name\":\"Bash\",\"tool_use_id\":\"t\"");
        JsonObject metadata = events.getLast().metadata();
        assertEquals("subagent:s1", metadata.string("gen_ai.agent.name"));
        assertEquals("explicit", metadata.string("tool_correlation_status"));
        assertEquals("s1", metadata.string("tool_correlation_subagent_id"));
        claude("a", "PostToolUseFailure", ",\"agent_id\":\"s1\",\"tool_name\":\"Bash\",\"tool_use_id\":\"t\"");
        assertEquals("tool_execution_failed", events.getLast().metadata().string("error.type"));
        assertEquals(Optional.empty(), events.getLast().data());
    }

    @Test
    void aToolWithoutAnIdGetsOne() {
        claude("a", "PreToolUse", ",\"tool_name\":\"Bash\"");
        Event start = events.getLast();
        assertTrue(start.categoryProfile().string("tool_call_id").startsWith("tool-id"));
        assertTrue(start.metadata().bool("tool_call_id_generated"));
    }

    @Test
    void aResultWithoutAStartIsAMoment() {
        claude("a", "PostToolUse", ",\"tool_name\":\"Bash\",\"tool_use_id\":\"t\"");
        assertEquals(List.of("start claude-code-turn", "mark tool_end_without_start"), seen());
        assertEquals(false, events.getLast().metadata().values().get("start_observed"));
    }

    @Test
    void amongSeveralSessionsARequestOfNoneStandsAlone() {
        claude("a", "SessionStart", "");
        claude("b", "SessionStart", "");
        ModelCall call = call("/v1/messages", Map.of());
        sessions.callEnded(
                now,
                call,
                new CallResult(200, Terminal.COMPLETE, false, Optional.of(Map.of("id", "m")), Optional.empty()));
        ModelCall refused = call("/v1/messages", Map.of());
        sessions.callEnded(
                now, refused, new CallResult(0, Terminal.UNKNOWN, false, Optional.empty(), Optional.empty()));
        List<String> four = List.of(
                "start claude-code-turn", "start anthropic.messages", "end anthropic.messages", "end claude-code-turn");
        assertEquals(four, seen().subList(2, 6));
        assertEquals(four, seen().subList(6, 10));
        assertTrue(events.get(2).metadata().string("session_id").startsWith("gateway-isolated-"));
        assertTrue(events.get(2).metadata().values().containsKey("gateway_mode"));
        assertEquals(Map.of("id", "m"), events.get(5).data().orElseThrow());
        assertEquals(
                Map.of("status", "uncorrelated_gateway_call_complete"),
                events.get(9).data().orElseThrow());
        sessions.close(now, "end");
        assertEquals(10, events.size());
    }

    @Test
    void aHeaderNamesTheSession() {
        claude("a", "SessionStart", "");
        claude("b", "SessionStart", "");
        ModelCall call = call("/v1/messages", Map.of("x-claude-code-session-id", "b"));
        assertEquals("b", call.metadata().get("session_id"));
    }

    @Test
    void anIdleTurnEnds() {
        claude("a", "UserPromptSubmit", "");
        codex("c", "UserPromptSubmit");
        now = now.plusSeconds(29);
        sessions.sweep(now);
        assertEquals(3, events.size());
        now = now.plusSeconds(2);
        sessions.sweep(now);
        assertEquals(List.of("end claude-code-turn", "end codex-turn", "end codex-task"), seen().subList(3, 6));
        assertEquals(Map.of("status", "idle_timeout"), events.get(3).data().orElseThrow());
    }

    @Test
    void aTurnInWhichSomethingRunsIsNotIdle() {
        claude("a", "PreToolUse", ",\"tool_name\":\"Bash\",\"tool_use_id\":\"t\"");
        now = now.plusSeconds(100);
        sessions.sweep(now);
        assertEquals(2, events.size());
    }

    @Test
    void sessionEndClosesTheTurnAndForgetsTheSession() {
        claude("a", "UserPromptSubmit", "");
        claude("a", "SessionEnd", "");
        assertEquals(
                Map.of("status", "closed_by_agent_end"), events.getLast().data().orElseThrow());
        claude("b", "SessionStart", "");
        ModelCall call = call("/v1/messages", Map.of());
        assertEquals("b", call.metadata().get("session_id"), "the only live session");
    }

    @Test
    void credentialsAndTransportStayOut() {
        call(
                "/v1/messages",
                Map.of(
                        "authorization", "s3cret",
                        "host", "h",
                        "x-nemo-relay-worker-token", "s3cret",
                        "accept-encoding", "gzip",
                        "x-auth-token", "s3cret",
                        "authentication", "s3cret",
                        "x-upstream", "Bearer s3cret",
                        "anthropic-beta", "token-efficient-tools",
                        "x-own", "kept"));
        String line = events.getLast().toJsonLine();
        assertFalse(line.contains("s3cret"), line);
        assertFalse(line.contains("accept-encoding") || line.contains("\"host\""), line);
        assertTrue(line.contains("\"x-own\":\"kept\""), line);
        assertTrue(line.contains("\"anthropic-beta\":\"token-efficient-tools\""), line);
    }

    @Test
    void hooksOfUnknownShapeAreMarks() {
        sessions.hook(now, new HookPayload(HookAgent.CLAUDE_CODE, Json.parse("[]")), Ruling.NONE);
        assertEquals(List.of("start claude-code-turn", "mark hook_mark"), seen());
        assertEquals("unknown", events.get(1).metadata().string("hook_event_name"));
        assertTrue(events.get(0).metadata().string("session_id").startsWith("hook-"));
    }

    @Test
    void piTurnsGoUnderItsSession() {
        for (String event : List.of("turn_start", "turn_end", "session_compact", "user_bash")) {
            sessions.hook(
                    now,
                    new HookPayload(
                            HookAgent.PI,
                            Json.parse("{\"session_id\":\"p\",\"hook_event_name\":\"" + event
                                    + "\",\"toolCallId\":\"u\"}")),
                    Ruling.NONE);
        }
        assertEquals(List.of("start pi", "start pi-turn", "end pi-turn", "mark compaction", "start user_bash"), seen());
    }

    @Test
    void anAllowedCallHasItsGuardrailsBeforeIt() {
        claude(
                "a",
                "PreToolUse",
                ",\"tool_name\":\"Bash\",\"tool_use_id\":\"t\"",
                ruling(new Judgement.Verdict.Allowed()));
        assertEquals(List.of("start claude-code-turn", "start tool_policy", "end tool_policy", "start Bash"), seen());
        Event guardrail = events.get(1);
        assertEquals(Optional.of("guardrail"), guardrail.category());
        assertEquals(
                Map.of("kind", "tool_conditional_execution", "target_name", "Bash"),
                guardrail.data().orElseThrow());
        assertEquals("t", guardrail.metadata().string("gen_ai.tool.call.id"));
        assertEquals(
                Map.of("allowed", true, "rejected", false), events.get(2).data().orElseThrow());
        assertEquals(Optional.of(events.getFirst().uuid()), guardrail.parentUuid());
    }

    @Test
    void aDeniedCallIsAMarkAndNoScope() {
        claude(
                "a",
                "PreToolUse",
                ",\"tool_name\":\"Bash\",\"tool_use_id\":\"t\"",
                ruling(new Judgement.Verdict.Allowed(), new Judgement.Verdict.Denied("no")));
        assertEquals(
                List.of(
                        "start claude-code-turn",
                        "start tool_policy",
                        "end tool_policy",
                        "start tool_policy",
                        "end tool_policy",
                        "mark Bash"),
                seen());
        assertEquals(
                Map.of("allowed", false, "rejected", true, "rejection_reason", "no"),
                events.get(4).data().orElseThrow());
        assertEquals(
                Map.of("rejected", true, "rejection_reason", "no"),
                events.get(5).data().orElseThrow());
    }

    @Test
    void aPolicyThatFailsIsNoRejection() {
        claude("a", "PreToolUse", ",\"tool_name\":\"Bash\"", ruling(new Judgement.Verdict.Failed("broken")));
        assertEquals(
                Map.of("allowed", false, "error", "broken"),
                events.get(2).data().orElseThrow());
        assertEquals("mark Bash", seen().getLast());
    }

    @Test
    void aDeniedPermissionEndsTheOpenCall() {
        claude("a", "PreToolUse", ",\"tool_name\":\"Bash\",\"tool_use_id\":\"t\"");
        claude("a", "PreToolUse", ",\"tool_name\":\"Read\",\"tool_use_id\":\"u\"");
        claude("a", "PermissionRequest", ",\"tool_name\":\"Bash\"", ruling(new Judgement.Verdict.Denied("no")));
        assertEquals(
                List.of(
                        "start tool_policy",
                        "end tool_policy",
                        "mark hook_mark",
                        "mark nemo_relay.permission.policy_decision",
                        "end Bash"),
                seen().subList(3, 8));
        assertEquals("guardrail_rejected", events.getLast().metadata().string("error.type"));
        assertEquals("ERROR", events.getLast().metadata().string("otel.status_code"));
        claude("a", "PermissionRequest", ",\"tool_name\":\"Read\",\"tool_use_id\":\"u\"");
        assertEquals(
                "{agent_kind=claude-code, decision_source=nemo_relay, event_name=PermissionRequest, policy_outcome=pass,"
                        + " tool_call_id=u, tool_name=Read}",
                events.getLast().data().orElseThrow().toString());
        assertEquals(Optional.of("custom"), events.getLast().category());
    }

    @Test
    void skillsThatACallLoadsAreMarks() {
        claude("a", "PreToolUse", ",\"tool_name\":\"Skill\",\"tool_use_id\":\"t\",\"tool_input\":{\"skill\":\"pdf\"}");
        assertEquals(Map.of("skill_name", "pdf"), events.getLast().data().orElseThrow());
        assertEquals(
                Map.of("skill_load_source", "skill_tool", "tool_name", "Skill"),
                events.getLast().metadata().values());
        assertEquals(Optional.of(events.get(1).uuid()), events.getLast().parentUuid());
        claude(
                "a",
                "PreToolUse",
                ",\"tool_name\":\"Bash\",\"tool_use_id\":\"u\",\"tool_input\":{\"command\":\"cat x/one/SKILL.md; head -5"
                        + " 'one/SKILL.md' y/two/SKILL.md\"}");
        assertEquals(List.of("start Bash", "mark skill.load", "mark skill.load"), seen().subList(3, 6));
        claude(
                "a",
                "PreToolUse",
                ",\"tool_name\":\"Read\",\"tool_use_id\":\"v\",\"tool_input\":{\"file_path\":\"/s/three/SKILL.md\"}");
        assertEquals(Map.of("skill_name", "three"), events.getLast().data().orElseThrow());
        claude(
                "a",
                "PreToolUse",
                ",\"tool_name\":\"Bash\",\"tool_use_id\":\"w\",\"tool_input\":{\"command\":\"rm one/SKILL.md\"}");
        assertEquals("start Bash", seen().getLast());
        claude("a", "UserPromptExpansion", ",\"command_name\":\"/four\"");
        assertEquals("mark skill.load.inferred", seen().getLast());
        assertEquals(Map.of("skill_name", "four"), events.getLast().data().orElseThrow());
    }

    @Test
    void requestsOfSubagentsGoUnderThem() {
        claude("a", "SubagentStart", ",\"agent_id\":\"s\"");
        String subagent = events.getLast().uuid();
        ModelCall call = call("/v1/messages", Map.of("x-claude-code-session-id", "a"));
        assertEquals("active_subagent", call.metadata().get("llm_correlation_status"));
        assertEquals("s", call.metadata().get("llm_correlation_subagent_id"));
        assertEquals(subagent, call.scope().parent());
        claude("a", "SubagentStart", ",\"agent_id\":\"t\"");
        ModelCall either = call("/v1/messages", Map.of("x-claude-code-session-id", "a"));
        assertEquals("ambiguous_fallback", either.metadata().get("llm_correlation_status"));
        ModelCall named = call("/v1/messages", Map.of("x-claude-code-session-id", "a", "x-claude-code-agent-id", "s"));
        assertEquals("explicit", named.metadata().get("llm_correlation_status"));
        assertEquals(subagent, named.scope().parent());
        ModelCall unknown =
                call("/v1/messages", Map.of("x-claude-code-session-id", "a", "x-claude-code-agent-id", "other"));
        assertEquals("ambiguous_fallback", unknown.metadata().get("llm_correlation_status"));
    }

    @Test
    void codexAndPiNameTheirSessionsInAHeader() {
        codex("c", "SessionStart");
        codex("d", "SessionStart");
        assertEquals(
                "c", call("/v1/responses", Map.of("session-id", "c")).metadata().get("session_id"));
        ModelCall pi = call("/v1/responses", Map.of("session-id", "p", "user-agent", "pi/1.6.0 (linux)"));
        assertEquals("pi", pi.metadata().get("agent_kind"));
        assertEquals("p", pi.metadata().get("session_id"));
    }

    @Test
    void aPiToolBelongsToTheCallThatAskedForItAndSaysThatItFailed() {
        pi("turn_start", "");
        ModelCall call = call("/v1/responses", Map.of("session-id", "p"));
        Map<String, Object> asked =
                Map.of("type", "function_call", "call_id", "call_1", "id", "fc_1", "name", "bash", "arguments", "{}");
        sessions.callEnded(
                now,
                call,
                new CallResult(
                        200,
                        Terminal.COMPLETE,
                        false,
                        Optional.of(Map.of("output", List.of(asked))),
                        Optional.empty()));
        pi("tool_call", ",\"toolName\":\"bash\",\"toolCallId\":\"call_1|fc_1\"");
        assertEquals("single_hint", events.getLast().metadata().string("tool_correlation_status"));
        pi("tool_execution_end", ",\"toolCallId\":\"call_1|fc_1\",\"isError\":true,\"result\":\"no\"");
        assertEquals("error", events.getLast().metadata().string("status"));
        assertEquals(Optional.of("no"), events.getLast().data());
    }

    @Test
    void claudesProbeOfItsCredentialIsNoneWithinATurn() {
        ObservedRequest request = new ObservedRequest(
                now,
                ModelApi.ANTHROPIC_MESSAGES,
                "/v1/messages",
                HttpFields.build().put("x-claude-code-session-id", "a"),
                Optional.empty());
        byte[] probe =
                "{\"model\":\"claude-x\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\"test\"}]}"
                        .getBytes(StandardCharsets.UTF_8);
        byte[] other =
                "{\"model\":\"claude-x\",\"max_tokens\":2,\"messages\":[{\"role\":\"user\",\"content\":\"test\"}]}"
                        .getBytes(StandardCharsets.UTF_8);
        assertTrue(sessions.startUpProbe(request, probe));
        assertFalse(sessions.startUpProbe(request, other));
        claude("a", "UserPromptSubmit", "");
        assertFalse(sessions.startUpProbe(request, probe));
    }

    private ModelCall call(String path, Map<String, String> headers) {
        HttpFields.Mutable head = HttpFields.build();
        headers.forEach(head::put);
        return sessions.callStarted(
                new ObservedRequest(now, ModelApi.ofPath(path).orElseThrow(), path, head, Optional.empty()));
    }

    private void claude(String session, String event, String more) {
        claude(session, event, more, Ruling.NONE);
    }

    private void claude(String session, String event, String more, Ruling ruling) {
        sessions.hook(
                now,
                new HookPayload(
                        HookAgent.CLAUDE_CODE,
                        Json.parse("{\"session_id\":\"" + session + "\",\"hook_event_name\":\"" + event + "\"" + more
                                + "}")),
                ruling);
    }

    private void pi(String event, String more) {
        sessions.hook(
                now,
                new HookPayload(
                        HookAgent.PI, Json.parse("{\"session_id\":\"p\",\"type\":\"" + event + "\"" + more + "}")),
                Ruling.NONE);
    }

    private void codex(String session, String event) {
        sessions.hook(
                now,
                new HookPayload(
                        HookAgent.CODEX,
                        Json.parse("{\"session_id\":\"" + session + "\",\"hook_event_name\":\"" + event + "\"}")),
                Ruling.NONE);
    }

    private Ruling ruling(Judgement.Verdict... verdicts) {
        return new Ruling(Stream.of(verdicts)
                .map(verdict -> new Judgement("tool_policy", now.minusMillis(2), now.minusMillis(1), verdict))
                .toList());
    }

    private List<String> seen() {
        return events.stream()
                .map(event -> switch (event.kind()) {
                    case SCOPE_START -> "start " + event.name();
                    case SCOPE_END -> "end " + event.name();
                    case MARK -> "mark " + event.name();
                })
                .toList();
    }

    private String nextId() {
        return "id" + ids++;
    }
}
