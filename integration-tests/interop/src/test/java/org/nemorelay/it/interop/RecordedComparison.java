package org.nemorelay.it.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.regex.Pattern;
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

/** The same plugins.toml and the same traffic for both programs, and where what they recorded differs. */
final class RecordedComparison {
    private final Path folder;
    private final Consumer<MockProvider> answers;
    private final Consumer<Sender> traffic;

    /** @param folder an empty one */
    RecordedComparison(Path folder, Consumer<MockProvider> answers, Consumer<Sender> traffic) {
        this.folder = folder;
        this.answers = answers;
        this.traffic = traffic;
    }

    /** Places in which the programs may differ, and why: the left column of docs/records.md. */
    enum Explanation {
        ADDED_HEADERS("headers of a request", " start/data/headers/(traceparent|x-dynamo-session-id)"),
        CREDENTIALS("a header with a credential", " start/data/headers/x-auth-token"),
        TOKENS("probabilities of tokens, beside redacted text", " end/data/choices/0/logprobs"),
        TERMINAL("`terminal` of a sized answer", " end/metadata/daemon_worker_observation/terminal"),
        STATUS(
                "status of a request that failed",
                " end/metadata/(otel.status_code|otel.status_description|error.type)"),
        THINKING(
                "thinking in a streamed answer",
                " end/(data|category_profile/annotated_response/api_specific)/(content|content_blocks)"),
        NULLS(
                "an error event, or a field that is null, in a stream",
                " end/(data|category_profile/annotated_response)/(error|type|stop_reason|api_specific/object_type)"),
        COMPRESSED("a compressed answer", " end/(data|category_profile/annotated_response)"),
        EMPTY("an answer without content", " end/category_profile/annotated_response"),
        LAST_ANSWER("the answer at the end of a turn", "-turn end/data"),
        SUB_AGENT(
                "a sub-agent's scope",
                "subagent:.*/metadata/(plugin_config|session_id|session_instance_id|hook_event_name)"),
        SUB_AGENTS_WORDS(
                "the first request of a sub-agent",
                "anthropic.messages start/(data/content|category_profile/annotated_request)/messages");

        private final String row;
        private final Pattern place;

        Explanation(String row, String place) {
            this.row = row;
            this.place = Pattern.compile("(?s).*" + place + "(/.*)?");
        }
    }

    /** One line for each place in which the records differ and that has no explanation in docs/records.md. */
    String differences(Set<Explanation> explained) throws Exception {
        String document = Files.readString(Path.of("../../docs/records.md"));
        for (Explanation explanation : explained) {
            assertTrue(document.contains("| " + explanation.row + " |"), explanation.row);
        }
        List<Map<String, Object>> ours = events(Maker.OURS);
        List<Map<String, Object>> stock = events(Maker.STOCK);
        Map<String, String> differences = new LinkedHashMap<>();
        assertEquals(String.join("\n", names(stock)), String.join("\n", names(ours)));
        for (int i = 0; i < stock.size(); i++) {
            differ(names(stock).get(i), stock.get(i), ours.get(i), differences);
        }
        for (Explanation explanation : explained) {
            assertTrue(
                    differences.keySet().stream()
                            .anyMatch(place -> explanation.place.matcher(place).matches()),
                    "no difference any more: " + explanation);
        }
        differences
                .keySet()
                .removeIf(place -> explained.stream()
                        .anyMatch(
                                explanation -> explanation.place.matcher(place).matches()));
        return String.join("\n", differences.values());
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
            answers.accept(provider);
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
                traffic.accept(new Sender(relay, session, user.header(), file));
            }
        }
        List<Map<String, Object>> events = new ArrayList<>();
        Map<String, String> ids = new HashMap<>();
        for (JsonObject event : Events.in(file)) {
            events.add(TreeMapOf.of(event.values(), ids, work));
        }
        return events;
    }

    /** One thing after the other: the next is sent when the end of the request before is recorded. */
    record Sender(Relay relay, McpSession session, String token, Path file) {
        void hook(String path, String body) {
            post(path, body, List.of());
        }

        void model(String path, String name, String body, String... headers) {
            long before = ends(name);
            post(path, body, List.of(headers));
            awaitEnd(path, name, before);
        }

        /** A request that may fail, and whose answer may break off. */
        void trial(String path, String name, String body, String... headers) {
            long before = ends(name);
            List<String> all = new ArrayList<>(List.of("content-type: application/json", token));
            all.addAll(List.of(headers));
            try {
                RawHttp.post(relay.port(), path, body, all.toArray(String[]::new));
            } catch (UncheckedIOException | IllegalStateException | NumberFormatException brokenOff) {
                // As the provider did.
            }
            awaitEnd(path, name, before);
        }

        private void awaitEnd(String path, String name, long before) {
            Await.until(
                    () -> "the end of " + path + " is recorded\n"
                            + session.process().transcript(),
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
        } else if (stock instanceof List<?> one && ours instanceof List<?> other && one.size() == other.size()) {
            for (int i = 0; i < one.size(); i++) {
                differ(place + "/" + i, one.get(i), other.get(i), differences);
            }
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
