package org.nemorelay.worker.internal.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.HookAgent;

/**
 * The traffic of three sessions (Claude Code, Codex, Pi), whose events another implementation recorded: ours must be the
 * same, field by field, but for ids, times, and the differences listed here.
 */
class RecordedSessionsTest {
    private static final Pattern UUID = Pattern.compile("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
    private static final Pattern TIMESTAMP =
            Pattern.compile("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.(\\d{3}|\\d{6}|\\d{9}))?\\+00:00");

    /** A sized answer that was read to its end is complete; the recording calls it cancelled. */
    private static final String SIZED_ANSWER =
            "end metadata.daemon_worker_observation.terminal: \"cancelled\" in the recording, \"complete\" here";

    private static final List<String> DIFFERENCES = List.of(
            "event 8 anthropic.messages " + SIZED_ANSWER,
            "event 22 openai.responses " + SIZED_ANSWER,
            "event 26 openai.chat_completions " + SIZED_ANSWER);

    @Test
    void eventsAreThoseOfTheRecording() throws Exception {
        List<Map<String, Object>> recorded = new ArrayList<>();
        for (String line : resource("events.jsonl").split("\n")) {
            recorded.add(Json.parseObject(line).values());
        }
        List<String> lines = replay(pluginConfig(recorded));
        List<Map<String, Object>> ours =
                lines.stream().map(line -> Json.parseObject(line).values()).toList();

        assertEquals(names(recorded), names(ours));
        List<String> differences = new ArrayList<>();
        Map<String, String> theirIds = new HashMap<>();
        Map<String, String> ourIds = new HashMap<>();
        for (int i = 0; i < recorded.size(); i++) {
            Map<String, Object> ourEvent = ours.get(i);
            String prefix =
                    "event " + (i + 1) + " " + ourEvent.get("name") + " " + ourEvent.get("scope_category") + " ";
            compare(prefix, plain(recorded.get(i), theirIds), plain(ourEvent, ourIds), differences);
        }
        assertEquals(String.join("\n", DIFFERENCES), String.join("\n", differences));
    }

    @Test
    void timesAreWellFormedAndEndsComeAfterStarts() throws Exception {
        Map<String, OffsetDateTime> starts = new HashMap<>();
        for (String line : replay(Map.of())) {
            JsonObject event = Json.parseObject(line);
            String text = event.string("timestamp");
            assertTrue(TIMESTAMP.matcher(text).matches(), text);
            OffsetDateTime time = OffsetDateTime.parse(text);
            if (event.has("scope_category")) {
                OffsetDateTime start = starts.putIfAbsent(event.string("uuid"), time);
                if (event.string("scope_category").equals("end")) {
                    assertTrue(Duration.between(start, time).toNanos() >= 1000, line);
                    starts.remove(event.string("uuid"));
                }
            }
        }
        assertEquals(Map.of(), starts, "scopes without an end");
    }

    private static List<String> replay(Map<String, Object> pluginConfig) throws IOException, InterruptedException {
        Recorder recorder = new Recorder();
        TrafficEvents events = recorder.events(pluginConfig, 1 << 20);
        for (Object step : (List<?>) Json.parse(resource("input.json"))) {
            JsonObject fields = JsonObject.of(step, "");
            if (fields.has("hook")) {
                HookAgent agent = HookAgent.ofArgument(fields.string("hook")).orElseThrow();
                Recorder.hook(events, agent, Json.write(fields.object("payload")));
            } else {
                request(events, fields);
            }
        }
        events.close("daemon_worker_shutdown", 10_000);
        return recorder.lines();
    }

    private static void request(TrafficEvents events, JsonObject step) {
        JsonObject request = step.object("request");
        HttpFields.Mutable headers = HttpFields.build();
        request.object("headers").values().forEach((name, value) -> headers.put(name, (String) value));
        headers.put("host", "127.0.0.1:1");
        headers.put("content-type", "application/json");
        headers.put("content-length", "100");
        events.call(request.string("path"), headers, -1, Optional.empty())
                .ifPresent(call -> answer(call, step.string("provider_answer")));
    }

    private static void answer(ObservedCall call, String raw) {
        int end = raw.indexOf("\r\n\r\n");
        Map<String, String> headers = new HashMap<>();
        for (String line : raw.substring(0, end).split("\r\n")) {
            int colon = line.indexOf(": ");
            headers.put(line.substring(0, Math.max(colon, 0)), line.substring(colon + 2));
        }
        long length = Long.parseLong(headers.getOrDefault("content-length", "-1"));
        call.head(200, headers.get("content-type"), "", length);
        byte[] body = raw.substring(end + 4).getBytes(StandardCharsets.UTF_8);
        if (length >= 0) {
            call.bytes(ByteBuffer.wrap(body));
        } else {
            chunks(call, body);
        }
        call.end(Terminal.COMPLETE);
    }

    private static void chunks(ObservedCall call, byte[] body) {
        int at = 0;
        while (true) {
            int eol = at;
            while (body[eol] != '\r') {
                eol++;
            }
            int size = Integer.parseInt(new String(body, at, eol - at, StandardCharsets.US_ASCII), 16);
            if (size == 0) {
                return;
            }
            call.bytes(ByteBuffer.wrap(body, eol + 2, size));
            at = eol + 2 + size + 2;
        }
    }

    private static Map<String, Object> pluginConfig(List<Map<String, Object>> recorded) {
        return JsonObject.of(recorded.getFirst(), "")
                .object("metadata")
                .object("plugin_config")
                .values();
    }

    private static String names(List<Map<String, Object>> events) {
        StringBuilder names = new StringBuilder();
        for (Map<String, Object> event : events) {
            names.append(event.get("kind"))
                    .append(' ')
                    .append(event.get("scope_category"))
                    .append(' ')
                    .append(event.get("name"))
                    .append('\n');
        }
        return names.toString();
    }

    /** The event without its time, each id replaced by the number of its first appearance. */
    private static Object plain(Map<String, Object> event, Map<String, String> ids) {
        Map<String, Object> copy = new TreeMap<>(event);
        copy.remove("timestamp");
        Matcher matcher = UUID.matcher(Json.write(copy));
        return Json.parse(matcher.replaceAll(id -> ids.computeIfAbsent(id.group(), first -> "id-" + ids.size())));
    }

    private static void compare(String path, Object theirs, Object ours, List<String> differences) {
        if (theirs instanceof Map<?, ?> a && ours instanceof Map<?, ?> b) {
            Set<String> keys = new TreeSet<>();
            a.keySet().forEach(key -> keys.add((String) key));
            b.keySet().forEach(key -> keys.add((String) key));
            for (String key : keys) {
                String at = path.endsWith(" ") ? path + key : path + "." + key;
                if (!a.containsKey(key) || !b.containsKey(key)) {
                    differences.add(at + ": only " + (a.containsKey(key) ? "in the recording" : "here"));
                } else {
                    compare(at, a.get(key), b.get(key), differences);
                }
            }
        } else if (!Json.write(theirs).equals(Json.write(ours))) {
            differences.add(path + ": " + Json.write(theirs) + " in the recording, " + Json.write(ours) + " here");
        }
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = RecordedSessionsTest.class.getResourceAsStream("/atof/" + name)) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            in.transferTo(out);
            return out.toString(StandardCharsets.UTF_8);
        }
    }
}
