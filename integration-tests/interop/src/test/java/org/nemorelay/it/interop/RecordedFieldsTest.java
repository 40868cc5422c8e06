package org.nemorelay.it.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
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
    private static final Map<String, String> EXPLAINED = Map.of(
            "anthropic.messages start/data/headers/traceparent",
            "the stock worker adds this header to the request; ours adds nothing to what an agent sends");

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
                String token = user.header();
                String hook = "{\"session_id\":\"s-1\",\"cwd\":\"/w\",\"hook_event_name\":\"";
                post(relay, token, "/hooks/claude-code", hook + "SessionStart\",\"source\":\"startup\"}");
                post(relay, token, "/hooks/claude-code", hook + "UserPromptSubmit\",\"prompt\":\"I am a@b.example\"}");
                post(
                        relay,
                        token,
                        "/v1/messages",
                        "{\"model\":\"claude-x\",\"max_tokens\":99,\"stream\":true,\"system\":\"be c@d.example\",\"messages\":[{\"role\":\"user\",\"content\":\"I am a@b.example\"}]}");
                Events.await(file, "the first answer's end", Events.scope("anthropic.messages", "end"));
                post(
                        relay,
                        token,
                        "/hooks/claude-code",
                        hook
                                + "PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"mail a@b.example\"},\"tool_use_id\":\"t1\"}");
                post(
                        relay,
                        token,
                        "/hooks/claude-code",
                        hook
                                + "PostToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"mail a@b.example\"},\"tool_response\":{\"stdout\":\"to a@b.example\"},\"tool_use_id\":\"t1\"}");
                post(relay, token, "/hooks/claude-code", hook + "Stop\",\"stop_hook_active\":false}");
                Events.await(file, "the turn's end", Events.scope("claude-code-turn", "end"));
            }
        }
        List<Map<String, Object>> events = new ArrayList<>();
        Map<String, String> ids = new HashMap<>();
        for (JsonObject event : Events.in(file)) {
            events.add(TreeMapOf.of(event.values(), ids, work));
        }
        return events;
    }

    private static void post(Relay relay, String token, String path, String body) {
        RawHttp.post(
                relay.port(),
                path,
                body,
                "content-type: application/json",
                "user-agent: claude-cli/2.1.332",
                "x-claude-code-session-id: s-1",
                token);
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
