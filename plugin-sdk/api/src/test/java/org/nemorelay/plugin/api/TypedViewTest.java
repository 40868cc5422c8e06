package org.nemorelay.plugin.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.JsonText;

/** The typed view of the three APIs, and that a change through it changes only the bytes it must. */
class TypedViewTest {
    private static final String CHAT = """
            { "stream" : true,  "x_unknown": [1.0, null],
              "model":"gpt", "messages":[{"role":"system","content":"Be \\u0062rief"},
              {"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"u"}}]},
              {"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ls","arguments":"{\\"p\\":1}"}}]},
              {"role":"tool","tool_call_id":"c1","content":"out"}],
              "tools":[{"type":"function","function":{"name":"ls","description":"d","parameters":{"type":"object"}}}] }
            """;
    private static final String MESSAGES = """
            {"model":"claude","max_tokens":5,"system":[{"type":"text","text":"Be brief"}],
             "messages":[{"role":"user","content":"hi"},
              {"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]},
              {"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"out"}]}],
             "tools":[{"name":"Bash","description":"d","input_schema":{"type":"object"}},{"type":"web_search_1","name":"web"}]}
            """;
    private static final String RESPONSES = """
            {"model":"gpt","instructions":"Be brief","stream":true,
             "input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"hi"}]},
              {"type":"reasoning","id":"r"},
              {"type":"function_call","call_id":"c1","name":"ls","arguments":"{\\"p\\":1}"},
              {"type":"function_call_output","call_id":"c1","output":"out"}],
             "tools":[{"type":"function","name":"ls","parameters":{}},{"type":"web_search"}]}
            """;

    private static ModelRequest request(ModelApi api, String body) {
        return ModelRequest.of(api, "/v1/x", HeaderMap.of(), JsonText.of(body));
    }

    private static String text(ModelRequest request) {
        return new String(request.body().bytes(), StandardCharsets.UTF_8);
    }

    @Test
    void oneConversationReadsTheSameFromEveryApi() {
        for (ModelRequest request : List.of(
                request(ModelApi.OPENAI_CHAT, CHAT),
                request(ModelApi.ANTHROPIC_MESSAGES, MESSAGES),
                request(ModelApi.OPENAI_RESPONSES, RESPONSES))) {
            List<Message> messages = request.messages();
            assertEquals("system", messages.getFirst().role(), request.toString());
            assertEquals("Be brief", messages.getFirst().text(), request.toString());
            assertEquals("hi", messages.get(1).text(), request.toString());
            List<Part.ToolUse> calls = messages.stream()
                    .flatMap(message -> message.parts().stream())
                    .filter(Part.ToolUse.class::isInstance)
                    .map(Part.ToolUse.class::cast)
                    .toList();
            assertEquals(1, calls.size(), request.toString());
            assertEquals(1, calls.getFirst().arguments().keys().size(), request.toString());
            assertTrue(
                    messages.getLast().parts().getFirst() instanceof Part.ToolResult result
                            && result.id().equals(calls.getFirst().id())
                            && result.content().equals("out"),
                    request.toString());
        }
    }

    @Test
    void toolsHaveNamesAndSchemas() {
        assertEquals(
                "ls", request(ModelApi.OPENAI_CHAT, CHAT).tools().getFirst().name());
        assertEquals(
                Optional.of(Map.of("type", "object")),
                request(ModelApi.ANTHROPIC_MESSAGES, MESSAGES)
                        .tools()
                        .getFirst()
                        .schema());
        assertEquals(
                List.of("ls", "web_search"),
                request(ModelApi.OPENAI_RESPONSES, RESPONSES).tools().stream()
                        .map(Tool::name)
                        .toList());
    }

    @Test
    void aChangeChangesItsOwnBytesOnly() {
        ModelRequest request = request(ModelApi.OPENAI_CHAT, CHAT);
        assertEquals(CHAT.replace("\"gpt\"", "\"other\""), text(request.withModel("other")));
        Part.Text hi = (Part.Text) request.messages().get(1).parts().getFirst();
        assertEquals(CHAT.replace("\"hi\"", "\"ho \\\"\""), text(request.withText(hi, "ho \"")));
        assertEquals(
                MESSAGES.replace(",{\"type\":\"web_search_1\",\"name\":\"web\"}", ""),
                text(request(ModelApi.ANTHROPIC_MESSAGES, MESSAGES)
                        .withoutTool(request(ModelApi.ANTHROPIC_MESSAGES, MESSAGES)
                                .tools()
                                .getLast())));
        assertEquals(
                "{\"input\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\",\"content\":\"b\"}]}",
                text(request(ModelApi.OPENAI_RESPONSES, "{\"input\":\"a\"}").withMessage("user", "b")));
    }

    @Test
    void whatTheViewDoesNotKnowSurvivesAChange() {
        String anthropic =
                "{ \"messages\":[ {\"role\":\"user\",\"x\":1e3,\"content\":[{\"type\":\"hologram\",\"text\":{}},"
                        + " {\"type\":\"text\",\"text\":\"hi\",\"cache_control\":{\"type\":\"new\"}}]}], \"next_year\":[ 1.0 ] }";
        String responses = "{\"input\":[{\"type\":\"hologram\",\"y\":0.10},{\"role\":\"user\",\"content\":[{\"type\":"
                + "\"input_text\",\"text\":\"hi\",\"z\":null}]}],\"next_year\":\"\\u00e4\" }";
        for (ModelRequest request : List.of(
                request(ModelApi.ANTHROPIC_MESSAGES, anthropic), request(ModelApi.OPENAI_RESPONSES, responses))) {
            Part.Text hi = request.messages().stream()
                    .flatMap(message -> message.parts().stream())
                    .filter(Part.Text.class::isInstance)
                    .map(Part.Text.class::cast)
                    .filter(text -> text.text().equals("hi"))
                    .findFirst()
                    .orElseThrow();
            assertEquals(text(request).replace("\"hi\"", "\"ho\""), text(request.withText(hi, "ho")));
        }
        String answer =
                "{ \"next_year\":1.0,\"content\":[{\"type\":\"hologram\"},{\"type\":\"text\",\"text\":\"yo\",\"z\":[]}]}";
        ModelResponse.Whole whole = ModelResponse.of(ModelApi.ANTHROPIC_MESSAGES, 200, JsonText.of(answer));
        Part.Text yo = whole.output().stream()
                .filter(Part.Text.class::isInstance)
                .map(Part.Text.class::cast)
                .findFirst()
                .orElseThrow();
        assertEquals(
                answer.replace("\"yo\"", "\"ye\""),
                new String(whole.withText(yo, "ye").body().bytes(), StandardCharsets.UTF_8));
    }

    @Test
    void anEventOfAnUnknownTypeKeepsItsBytes() {
        String raw = "event: hologram\ndata: {\"type\":\"hologram\", \"delta\":{\"text\":1.0}}\n\n";
        for (ModelApi api : ModelApi.values()) {
            StreamEvent event = StreamEvent.ofRaw(api, raw.getBytes(StandardCharsets.UTF_8));
            assertEquals("hologram", event.type());
            assertEquals(List.of(), event.texts());
            assertEquals(raw, new String(event.raw(), StandardCharsets.UTF_8));
        }
    }

    @Test
    void aBodyThatNobodyAskedForIsNotThere() {
        ModelRequest head = ModelRequest.ofHead(ModelApi.OPENAI_CHAT, "/v1/chat/completions", HeaderMap.of());
        assertTrue(assertThrows(IllegalStateException.class, head::messages)
                .getMessage()
                .contains("needsBody"));
    }

    @Test
    void answersReadTheSameFromEveryApi() {
        ModelResponse.Whole chat = ModelResponse.of(ModelApi.OPENAI_CHAT, 200, JsonText.of("""
                {"model":"gpt","choices":[{"message":{"content":"yo"},"finish_reason":"stop"}],
                 "usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}"""));
        assertEquals("yo", ((Part.Text) chat.output().getFirst()).text());
        assertEquals(
                Optional.of(
                        new Usage(OptionalLong.of(6), OptionalLong.of(2), OptionalLong.of(4), OptionalLong.empty())),
                chat.usage());
        assertEquals("stop", chat.finishReason());
        ModelResponse.Whole messages = ModelResponse.of(ModelApi.ANTHROPIC_MESSAGES, 200, JsonText.of("""
                {"model":"c","content":[{"type":"text","text":"yo"},{"type":"tool_use","id":"1","name":"Bash","input":{}}],
                 "stop_reason":"tool_use","usage":{"input_tokens":6,"output_tokens":2,"cache_read_input_tokens":4}}"""));
        assertEquals(chat.usage(), messages.usage());
        assertTrue(messages.output().get(1) instanceof Part.ToolUse use
                && use.name().equals("Bash"));
        ModelResponse.Whole responses = ModelResponse.of(ModelApi.OPENAI_RESPONSES, 200, JsonText.of("""
                {"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"yo"}]}],
                 "usage":{"input_tokens":10,"output_tokens":2,"input_tokens_details":{"cached_tokens":4}}}"""));
        assertEquals("yo", ((Part.Text) responses.output().getFirst()).text());
        assertEquals(chat.usage(), responses.usage());
    }

    @Test
    void anEventKeepsWhatIsNotItsData() {
        String raw = "id: 7\r\nevent: content_block_delta\r\ndata: {\"type\":\"content_block_delta\", \"x\":1,\r\n"
                + "data: \"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\r\n: note\r\n\r\n";
        StreamEvent event = StreamEvent.ofRaw(ModelApi.ANTHROPIC_MESSAGES, raw.getBytes(StandardCharsets.UTF_8));
        assertEquals("content_block_delta", event.type());
        Part.Text text = event.texts().getFirst();
        assertEquals("a", text.text());
        assertEquals(
                raw.replace("\"a\"", "\"bb\""),
                new String(event.withText(text, "bb").raw(), StandardCharsets.UTF_8));
        StreamEvent comment =
                StreamEvent.ofRaw(ModelApi.ANTHROPIC_MESSAGES, ": ping\n\n".getBytes(StandardCharsets.UTF_8));
        assertEquals(Optional.empty(), comment.data());
        assertEquals(List.of(), comment.texts());
    }

    @Test
    void eventsOfOnesOwnAreNamedAsTheApiNamesThem() {
        assertEquals(
                "event: ping\ndata: {\"type\":\"ping\"}\n\n",
                new String(
                        StreamEvent.of(ModelApi.ANTHROPIC_MESSAGES, JsonText.of("{\"type\":\"ping\"}"))
                                .raw(),
                        StandardCharsets.UTF_8));
        assertEquals(
                "data: {\"id\":\"c\"}\n\n",
                new String(
                        StreamEvent.of(ModelApi.OPENAI_CHAT, JsonText.of("{\"id\":\"c\"}"))
                                .raw(),
                        StandardCharsets.UTF_8));
    }

    @Test
    void headersChangeInTheirPlace() {
        HeaderMap headers = HeaderMap.of().adding("A", "1").adding("b", "2").adding("a", "3");
        assertEquals(List.of("1", "3"), headers.all("a"));
        assertEquals("[a, b]", headers.with("a", "9").toString());
        assertEquals(Optional.of("9"), headers.with("a", "9").first("A"));
        assertThrows(IllegalArgumentException.class, () -> headers.with("x", "a\nb"));
        assertThrows(IllegalArgumentException.class, () -> headers.with("x y", "a"));
    }

    @Test
    void hooksAreTypedForTheirAgent() {
        HookEvent hook = HookEvent.of(
                ToolCall.Agent.CODEX,
                "PreToolUse",
                org.nemorelay.json.Json.parseObject("{\"session_id\":\"s\",\"turn_id\":\"t\",\"cwd\":\"/w\"}"));
        assertTrue(hook instanceof HookEvent.Codex codex
                && codex.type() == HookEvent.Codex.Type.PRE_TOOL_USE
                && codex.turnId().equals(Optional.of("t")));
        assertTrue(HookEvent.of(ToolCall.Agent.PI, "brand_new", hook.payload()) instanceof HookEvent.Pi pi
                && pi.type() == HookEvent.Pi.Type.UNKNOWN);
        HookEvent claude = HookEvent.of(
                ToolCall.Agent.CLAUDE_CODE,
                "PostToolBatch",
                org.nemorelay.json.Json.parseObject("{\"session_id\":\"s\",\"permission_mode\":\"plan\",\"new\":1}"));
        assertTrue(claude instanceof HookEvent.ClaudeCode code
                && code.type() == HookEvent.ClaudeCode.Type.POST_TOOL_BATCH
                && code.permissionMode().equals(Optional.of("plan")));
        assertEquals("PostToolBatch", claude.name());
        assertEquals(1L, claude.payload().values().get("new"));
    }
}
