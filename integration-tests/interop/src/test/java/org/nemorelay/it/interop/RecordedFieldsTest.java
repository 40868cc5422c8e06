package org.nemorelay.it.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Answers;
import org.nemorelay.it.Await;
import org.nemorelay.it.Events;
import org.nemorelay.it.Maker;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/**
 * One plugins.toml with {@code observability} and {@code pii_redaction}, the same traffic, both programs: the records have the
 * same fields and values. What differs stands in {@link #EXPLAINED}.
 */
@Timeout(180)
class RecordedFieldsTest {
    /** Places of a record, and why the two programs differ there. */
    private static final Map<String, String> EXPLAINED = new LinkedHashMap<>();

    static {
        for (String api : List.of("openai.responses", "openai.chat_completions")) {
            EXPLAINED.put(
                    api + " start/data/headers/x-dynamo-session-id",
                    "the stock worker adds this header to the request; ours adds nothing to what an agent sends");
        }
        for (String api : List.of("anthropic.messages", "openai.responses", "openai.chat_completions")) {
            EXPLAINED.put(
                    api + " start/data/headers/traceparent",
                    "the stock worker adds this header to the request; ours adds nothing to what an agent sends");
            EXPLAINED.put(
                    api + " end/metadata/daemon_worker_observation/terminal",
                    "the stock program calls a sized answer that was read to its end cancelled; ours calls it complete");
        }
    }

    @TempDir
    Path folder;

    @Test
    void bothWriteTheSameFieldsAndValues() throws Exception {
        List<Map<String, Object>> ours = events(Maker.OURS);
        List<Map<String, Object>> stock = events(Maker.STOCK);
        Map<String, String> differences = new LinkedHashMap<>();
        assertEquals(names(stock), names(ours));
        for (int i = 0; i < stock.size(); i++) {
            differ(names(stock).get(i), stock.get(i), ours.get(i), differences);
        }
        differences.keySet().removeAll(EXPLAINED.keySet());
        assertEquals("", String.join("\n", differences.values()));
    }

    private static List<String> names(List<Map<String, Object>> events) {
        return events.stream()
                .map(event -> event.get("name") + " " + event.getOrDefault("scope_category", "mark"))
                .toList();
    }

    private List<Map<String, Object>> events(Maker maker) throws Exception {
        Path work = Files.createDirectories(folder.resolve(maker.name()));
        Path file = work.resolve("events.jsonl");
        try (MockProvider provider = new MockProvider()) {
            answers(provider);
            User user = User.self(work.resolve("home"));
            Maker.Program client = maker.configured(
                    work.resolve("client"), Relay.upstreamToml(provider), Relay.observabilityToml(work) + """
                            [[components]]
                            kind = "pii_redaction"
                            required = true
                            [components.config]
                            version = 1
                            [components.config.builtin]
                            action = "redact"
                            detector = "email"
                            """);
            try (Relay relay = Relay.start(user, maker.executable(), Relay.upstream(provider));
                    McpSession session = McpSession.start(client.around()
                            .apply(user.withToken(
                                    client.executable().toString(),
                                    "daemon",
                                    "mcp",
                                    "--daemon-address",
                                    relay.address())))) {
                session.initialize();
                relay.awaitReadyWorker(session);
                traffic(new Sender(relay, user.header(), file));
            }
        }
        List<Map<String, Object>> events = new ArrayList<>();
        Map<String, String> ids = new HashMap<>();
        for (JsonObject event : Events.in(file)) {
            events.add(TreeMapOf.of(event.values(), ids, work));
        }
        return events;
    }

    /** Three APIs, streamed and not, within sessions and alone, with what the detector looks for in every text. */
    private static void traffic(Sender sender) {
        String claude = "{\"session_id\":\"s-1\",\"cwd\":\"/w\",\"hook_event_name\":\"";
        String messages = "{\"model\":\"claude-x\",\"max_tokens\":99,\"stream\":%s,\"system\":\"be c@d.example\","
                + "\"messages\":[{\"role\":\"user\",\"content\":\"I am a@b.example\"}]}";
        String[] ofClaude = {"user-agent: claude-cli/2.1.332", "x-claude-code-session-id: s-1"};
        sender.hook("/hooks/claude-code", claude + "SessionStart\",\"source\":\"startup\"}");
        sender.hook("/hooks/claude-code", claude + "UserPromptSubmit\",\"prompt\":\"I am a@b.example\"}");
        sender.model("/v1/messages", "anthropic.messages", messages.formatted(true), ofClaude);
        String call =
                ",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"mail a@b.example\"},\"tool_use_id\":\"t1\"";
        sender.hook("/hooks/claude-code", claude + "PreToolUse\"" + call + "}");
        sender.hook(
                "/hooks/claude-code",
                claude + "PostToolUse\"" + call + ",\"tool_response\":{\"stdout\":\"to a@b.example\"}}");
        sender.model("/v1/messages", "anthropic.messages", messages.formatted(false), ofClaude);
        sender.hook("/hooks/claude-code", claude + "Stop\",\"stop_hook_active\":false}");
        sender.hook("/hooks/claude-code", claude + "SessionEnd\",\"reason\":\"other\"}");

        String codex =
                "{\"session_id\":\"s-2\",\"turn_id\":\"t1\",\"cwd\":\"/w\",\"model\":\"gpt-x\",\"hook_event_name\":\"";
        String responses =
                "{\"model\":\"gpt-x\",\"stream\":%s,\"instructions\":\"be c@d.example\",\"input\":[{\"type\":"
                        + "\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"I am a@b.example\"}]}],"
                        + "\"prompt_cache_key\":\"s-2\"}";
        String[] ofCodex = {"user-agent: codex_cli_rs/0.171.0", "session_id: s-2"};
        sender.hook("/hooks/codex", codex + "SessionStart\",\"source\":\"startup\"}");
        sender.hook("/hooks/codex", codex + "UserPromptSubmit\",\"prompt\":\"I am a@b.example\"}");
        sender.model("/v1/responses", "openai.responses", responses.formatted(true), ofCodex);
        sender.hook("/hooks/codex", codex + "PreToolUse\"" + call + "}");
        sender.hook("/hooks/codex", codex + "PostToolUse\"" + call + ",\"tool_response\":\"to a@b.example\"}");
        sender.model("/v1/responses", "openai.responses", responses.formatted(false), ofCodex);
        sender.hook(
                "/hooks/codex",
                codex + "Stop\",\"stop_hook_active\":false,\"last_assistant_message\":\"to a@b.example\"}");

        String chat =
                "{\"model\":\"gpt-y\",\"stream\":%s,\"messages\":[{\"role\":\"system\",\"content\":\"be c@d.example\"},"
                        + "{\"role\":\"user\",\"content\":\"I am a@b.example\"}]}";
        sender.model("/v1/chat/completions", "openai.chat_completions", chat.formatted(true));
        sender.model("/v1/chat/completions", "openai.chat_completions", chat.formatted(false));
    }

    /** One thing after the other: the next is sent when the end of the request before is recorded. */
    private record Sender(Relay relay, String token, Path file) {
        void hook(String path, String body) {
            post(path, body, List.of());
        }

        void model(String path, String name, String body, String... headers) {
            long before = ends(name);
            post(path, body, List.of(headers));
            Await.until(
                    () -> "the end of " + path + " is recorded in " + Events.in(file),
                    Duration.ofSeconds(30),
                    () -> ends(name) > before);
        }

        private void post(String path, String body, List<String> headers) {
            List<String> all = new ArrayList<>(List.of("content-type: application/json", token));
            all.addAll(headers);
            assertEquals(
                    200,
                    RawHttp.post(relay.port(), path, body, all.toArray(String[]::new))
                            .status());
        }

        private long ends(String name) {
            return Events.in(file).stream().filter(Events.scope(name, "end")).count();
        }
    }

    private static void answers(MockProvider provider) {
        provider.respond(
                "/v1/messages",
                either(
                        List.of(
                                "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[],\"stop_reason\":null,\"usage\":{\"input_tokens\":11,\"output_tokens\":1}}}\n\n",
                                "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n",
                                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"ask a@b.\"}}\n\n",
                                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"example\"}}\n\n",
                                "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n",
                                "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t1\",\"name\":\"Bash\",\"input\":{}}}\n\n",
                                "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"command\\\":\\\"mail a@b.example\\\"}\"}}\n\n",
                                "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n",
                                "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"},\"usage\":{\"output_tokens\":7}}\n\n",
                                "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"),
                        "{\"id\":\"msg_2\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"claude-x\",\"content\":[{\"type\":\"text\",\"text\":\"ask a@b.example\"}],\"stop_reason\":\"end_turn\",\"usage\":{\"input_tokens\":5,\"output_tokens\":2,\"cache_read_input_tokens\":3}}"));
        String output =
                "[{\"type\":\"message\",\"id\":\"m1\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"ask a@b.example\"}]},{\"type\":\"function_call\",\"id\":\"fc1\",\"call_id\":\"t1\",\"name\":\"shell\",\"arguments\":\"{\\\"cmd\\\":\\\"mail a@b.example\\\"}\"}]";
        String response =
                "{\"id\":\"resp_1\",\"object\":\"response\",\"model\":\"gpt-x\",\"status\":\"completed\",\"output\":"
                        + output
                        + ",\"usage\":{\"input_tokens\":12,\"output_tokens\":4,\"total_tokens\":16,\"input_tokens_details\":{\"cached_tokens\":2}}}";
        provider.respond(
                "/v1/responses",
                either(
                        List.of(
                                "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"object\":\"response\",\"model\":\"gpt-x\",\"status\":\"in_progress\",\"output\":[],\"usage\":null}}\n\n",
                                "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m1\",\"output_index\":0,\"content_index\":0,\"delta\":\"ask a@b.example\"}\n\n",
                                "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":"
                                        + response + "}\n\n"),
                        response));
        provider.respond(
                "/v1/chat/completions",
                either(
                        List.of(
                                "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"ask a@b.\"},\"finish_reason\":null}]}\n\n",
                                "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"example\"},\"finish_reason\":\"stop\"}]}\n\n",
                                "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"model\":\"gpt-y\",\"choices\":[],\"usage\":{\"prompt_tokens\":8,\"completion_tokens\":2,\"total_tokens\":10}}\n\n",
                                "data: [DONE]\n\n"),
                        "{\"id\":\"c2\",\"object\":\"chat.completion\",\"model\":\"gpt-y\",\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"ask a@b.example\",\"tool_calls\":[{\"id\":\"t9\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{\\\"to\\\":\\\"a@b.example\\\"}\"}}]},\"finish_reason\":\"tool_calls\"}],\"usage\":{\"prompt_tokens\":3,\"completion_tokens\":1,\"total_tokens\":4}}"));
    }

    private static MockProvider.Responder either(List<String> stream, String whole) {
        return (request, reply) -> {
            if (request.bodyText().contains("\"stream\":true")) {
                Answers.stream(reply, stream);
            } else {
                reply.sized(200, "application/json", whole);
            }
        };
    }

    private static void differ(String place, Object stock, Object ours, Map<String, String> differences) {
        if (stock instanceof Map<?, ?> one && ours instanceof Map<?, ?> other) {
            TreeMap<String, Object> keys = new TreeMap<>();
            one.keySet().forEach(key -> keys.put((String) key, ""));
            other.keySet().forEach(key -> keys.put((String) key, ""));
            keys.keySet()
                    .forEach(key -> differ(
                            place + "/" + key,
                            one.containsKey(key) ? one.get(key) : "(absent)",
                            other.containsKey(key) ? other.get(key) : "(absent)",
                            differences));
        } else if (!Json.write(java.util.Arrays.asList(stock)).equals(Json.write(java.util.Arrays.asList(ours)))) {
            differences.put(place, place + ": stock " + Json.write(stock) + ", ours " + Json.write(ours));
        }
    }

    /** Ids by the order in which they appear; times and folders left out. */
    private static final class TreeMapOf {
        static Map<String, Object> of(Map<String, Object> values, Map<String, String> ids, Path work) {
            Map<String, Object> plain = new TreeMap<>();
            values.forEach((key, value) -> {
                if (!key.equals("timestamp")) {
                    plain.put(key, plain(value, ids, work));
                }
            });
            return plain;
        }

        private static Object plain(Object value, Map<String, String> ids, Path work) {
            return switch (value) {
                case Map<?, ?> map -> {
                    Map<String, Object> plain = new TreeMap<>();
                    map.forEach((key, item) -> plain.put((String) key, plain(item, ids, work)));
                    yield plain;
                }
                case List<?> list -> {
                    List<Object> plain = new ArrayList<>();
                    list.forEach(item -> plain.add(plain(item, ids, work)));
                    yield plain;
                }
                case String text -> {
                    String moved = text.replace(work.toString(), "WORK");
                    java.util.regex.Matcher id = java.util.regex.Pattern.compile(
                                    "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
                            .matcher(moved);
                    yield id.replaceAll(found -> ids.computeIfAbsent(found.group(), known -> "id-" + ids.size()));
                }
                case null, default -> value;
            };
        }
    }
}
