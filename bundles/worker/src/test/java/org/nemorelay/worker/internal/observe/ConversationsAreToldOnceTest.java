package org.nemorelay.worker.internal.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.http.Outcome;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.HookAgent;

/**
 * Of a conversation each agent's first request is recorded whole, later ones with what is new, until the conversation is
 * compacted; every subagent has a conversation of its own (plugins.md 1.6, "History projection").
 */
class ConversationsAreToldOnceTest {
    private static final String WHOLE = "one two three";
    private static final String NEW = "three";

    private final Recorder recorder = new Recorder();
    private final TrafficEvents events = recorder.events(Map.of(), 100_000);
    private int requests;

    @AfterEach
    void close() throws InterruptedException {
        events.close("end", 10_000);
    }

    private void hook(HookAgent agent, String event, String more) {
        String key = agent == HookAgent.PI ? "type" : "hook_event_name";
        Recorder.hook(events, agent, "{\"session_id\":\"s\",\"" + key + "\":\"" + event + "\"" + more + "}")
                .join();
    }

    private void claude(String event, String more) {
        hook(HookAgent.CLAUDE_CODE, event, more);
    }

    /** The texts of the request as they are recorded. */
    private String told(String path, String... headers) throws InterruptedException {
        List<Object> messages = new ArrayList<>();
        for (String[] each : new String[][] {{"user", "one"}, {"assistant", "two"}, {"user", "three"}}) {
            messages.add(Json.object("role", each[0], "content", each[1]));
        }
        boolean responses = path.endsWith("responses");
        byte[] body = Json.write(Json.object("model", "m", responses ? "input" : "messages", messages))
                .getBytes(java.nio.charset.StandardCharsets.UTF_8);
        HttpFields.Mutable fields = HttpFields.build();
        for (int i = 0; i < headers.length; i += 2) {
            fields.add(headers[i], headers[i + 1]);
        }
        events.exchange(path, fields, Optional.of(body)).end(new Outcome.Completed(200));
        requests++;
        List<JsonObject> starts = starts();
        long deadline = System.nanoTime() + 30_000_000_000L;
        while (starts.size() < requests) {
            if (System.nanoTime() > deadline) {
                throw new AssertionError("no record in " + recorder.lines());
            }
            Thread.onSpinWait();
            starts = starts();
        }
        JsonObject content = starts.getLast().object("data").object("content");
        return String.join(
                " ",
                content.objects(responses ? "input" : "messages").stream()
                        .map(message -> message.string("content"))
                        .toList());
    }

    private List<JsonObject> starts() {
        return recorder.lines().stream()
                .map(Json::parseObject)
                .filter(event -> "llm".equals(event.optionalString("category").orElse(""))
                        && event.optionalString("scope_category").orElse("").equals("start"))
                .toList();
    }

    private String claudes(String... headers) throws InterruptedException {
        List<String> all = new ArrayList<>(List.of("x-claude-code-session-id", "s"));
        all.addAll(List.of(headers));
        return told("/v1/messages", all.toArray(String[]::new));
    }

    @Test
    void aSubagentTellsItsOwn() throws Exception {
        claude("SessionStart", "");
        claude("UserPromptSubmit", ",\"prompt\":\"p\"");
        assertEquals(WHOLE, claudes());
        assertEquals(NEW, claudes());
        claude("SubagentStart", ",\"agent_id\":\"a\",\"agent_type\":\"explorer\"");
        claude("SubagentStart", ",\"agent_id\":\"b\",\"agent_type\":\"explorer\"");
        assertEquals(WHOLE, claudes("x-claude-code-agent-id", "a"));
        assertEquals(WHOLE, claudes("x-claude-code-agent-id", "b"));
        assertEquals(NEW, claudes("x-claude-code-agent-id", "a"));
        assertEquals(NEW, claudes("x-claude-code-agent-id", "b"));
        // Nobody's in particular: the session's own.
        assertEquals(NEW, claudes());
        claude("SubagentStop", ",\"agent_id\":\"a\"");
        claude("SubagentStart", ",\"agent_id\":\"a\"");
        assertEquals(WHOLE, claudes("x-claude-code-agent-id", "a"));
        assertEquals(NEW, claudes("x-claude-code-agent-id", "b"));
    }

    @Test
    void aCompactedConversationIsToldAnew() throws Exception {
        claude("UserPromptSubmit", ",\"prompt\":\"p\"");
        assertEquals(WHOLE, claudes());
        claude("SubagentStart", ",\"agent_id\":\"a\"");
        assertEquals(WHOLE, claudes("x-claude-code-agent-id", "a"));
        claude("PreCompact", ",\"trigger\":\"auto\"");
        claude("PostCompact", ",\"trigger\":\"auto\"");
        assertEquals(NEW, claudes("x-claude-code-agent-id", "a"));
        claude("SubagentStop", ",\"agent_id\":\"a\"");
        assertEquals(WHOLE, claudes());
        assertEquals(NEW, claudes());
        // A new turn goes on with the same conversation.
        claude("Stop", "");
        claude("UserPromptSubmit", ",\"prompt\":\"p\"");
        assertEquals(NEW, claudes());
        claude("SubagentStart", ",\"agent_id\":\"a\"");
        assertEquals(WHOLE, claudes("x-claude-code-agent-id", "a"));
        claude("PreCompact", ",\"trigger\":\"auto\",\"agent_id\":\"a\"");
        assertEquals(WHOLE, claudes("x-claude-code-agent-id", "a"));
        claude("SubagentStop", ",\"agent_id\":\"a\"");
        assertEquals(NEW, claudes());
        List<JsonObject> marks = recorder.lines().stream()
                .map(Json::parseObject)
                .filter(event -> event.string("name").equals("compaction"))
                .toList();
        assertEquals(3, marks.size());
        assertEquals("auto", marks.getFirst().object("data").string("trigger"));
        assertEquals("PreCompact", marks.getFirst().object("metadata").string("hook_event_name"));
    }

    @Test
    void codexAndPiToo() throws Exception {
        String session = "11111111-1111-4111-8111-111111111111";
        String codex = ",\"session_id\":\"" + session + "\"";
        Recorder.hook(
                        events,
                        HookAgent.CODEX,
                        "{\"hook_event_name\":\"UserPromptSubmit\",\"prompt\":\"p\"" + codex + "}")
                .join();
        assertEquals(WHOLE, told("/v1/responses", "session-id", session));
        assertEquals(NEW, told("/v1/responses", "session-id", session));
        Recorder.hook(
                        events,
                        HookAgent.CODEX,
                        "{\"hook_event_name\":\"SubagentStart\",\"agent_id\":\"t\"" + codex + "}")
                .join();
        assertEquals(WHOLE, told("/v1/responses", "session-id", session, "thread-id", "t"));
        assertEquals(NEW, told("/v1/responses", "session-id", session, "thread-id", "t"));
        Recorder.hook(events, HookAgent.CODEX, "{\"hook_event_name\":\"PreCompact\"" + codex + "}")
                .join();
        assertEquals(NEW, told("/v1/responses", "session-id", session, "thread-id", "t"));
        hook(HookAgent.PI, "session_start", "");
        String[] pi = {"session-id", "s", "user-agent", "pi/1.6.0 (linux)"};
        assertEquals(WHOLE, told("/v1/chat/completions", pi));
        assertEquals(NEW, told("/v1/chat/completions", pi));
        hook(HookAgent.PI, "session_compact", "");
        assertEquals(WHOLE, told("/v1/chat/completions", pi));
        hook(HookAgent.PI, "session_shutdown", "");
        hook(HookAgent.PI, "session_start", "");
        assertEquals(WHOLE, told("/v1/chat/completions", pi));
    }
}
