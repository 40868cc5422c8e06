package org.nemorelay.worker.internal.observe;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.Outcome;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.HookAgent;

class ExchangesAreObservedTest {
    private static final byte[] PART = "{\"id\":\"c".getBytes(StandardCharsets.UTF_8);

    private record Ending(Outcome outcome, String terminal, String code) {}

    static Ending[] endings() {
        return new Ending[] {
            new Ending(new Outcome.Completed(200), "complete", "OK"),
            new Ending(new Outcome.ClientCancelled(), "cancelled", "OK"),
            new Ending(new Outcome.BodyBroken("reset"), "body_error", "ERROR"),
        };
    }

    @ParameterizedTest
    @MethodSource("endings")
    void outcomesBecomeTerminals(Ending ending) throws Exception {
        Recorder recorder = new Recorder();
        TrafficEvents events = recorder.events(Map.of(), 1000);
        HttpFields request =
                HttpFields.build().add("X-Twice", "1").add("X-Twice", "2").add("Authorization", "Bearer k");
        ExchangeListener exchange = events.exchange("/v1/chat/completions", request, Optional.empty());
        exchange.responseHead(200, HttpFields.build().add("Content-Type", "application/json"));
        ByteBuffer bytes = ByteBuffer.wrap(PART).asReadOnlyBuffer();
        exchange.responseBytes(bytes);
        assertEquals(PART.length, bytes.remaining(), "the buffer is only lent");
        exchange.end(ending.outcome());
        events.close("end", 10_000);

        JsonObject headers =
                recorder.only("openai.chat_completions", "start").object("data").object("headers");
        assertEquals("2", headers.string("x-twice"));
        assertEquals(false, headers.has("authorization"));
        JsonObject metadata = recorder.only("openai.chat_completions", "end").object("metadata");
        assertEquals(
                ending.terminal(), metadata.object("daemon_worker_observation").string("terminal"));
        assertEquals(ending.code(), metadata.string("otel.status_code"));
    }

    /** It is read when the request is long under way, and its fields may serve the next one by then. */
    @Test
    void theHeadIsOnlyLent() throws Exception {
        Recorder recorder = new Recorder();
        TrafficEvents events = recorder.events(Map.of(), 1000);
        HttpFields.Mutable head = HttpFields.build();
        for (String path : List.of("/v1/chat/completions", "/v1/responses")) {
            head.clear().put("X-Path", path);
            events.exchange(path, head, Optional.empty()).end(new Outcome.Completed(200));
        }
        head.clear().put("X-Path", "another");
        events.close("end", 10_000);
        assertEquals(
                List.of("/v1/chat/completions", "/v1/responses"),
                List.of(
                        recorder.only("openai.chat_completions", "start")
                                .object("data")
                                .object("headers")
                                .string("x-path"),
                        recorder.only("openai.responses", "start")
                                .object("data")
                                .object("headers")
                                .string("x-path")));
    }

    @Test
    void claudesStartUpProbeLeavesNoRecordAndOtherSmallRequestsDo() throws Exception {
        Recorder recorder = new Recorder();
        TrafficEvents events = recorder.events(Map.of(), 1000);
        for (String content : List.of("test", "tell")) {
            byte[] body = ("{\"model\":\"claude-x\",\"max_tokens\":1,\"messages\":[{\"role\":\"user\",\"content\":\""
                            + content + "\"}]}")
                    .getBytes(StandardCharsets.UTF_8);
            ExchangeListener exchange = events.exchange(
                    "/v1/messages", HttpFields.build().add("Content-Length", "" + body.length), Optional.empty());
            exchange.requestBytes(ByteBuffer.wrap(body, 0, 10));
            exchange.requestBytes(ByteBuffer.wrap(body, 10, body.length - 10).asReadOnlyBuffer());
            exchange.requestEnd();
            exchange.responseHead(200, HttpFields.build().add("Content-Type", "application/json"));
            exchange.responseBytes(ByteBuffer.wrap(PART));
            exchange.end(new Outcome.Completed(200));
        }
        events.exchange("/v1/messages", HttpFields.build().add("Content-Length", "5"), Optional.empty())
                .end(new Outcome.ClientCancelled());
        events.close("end", 10_000);
        assertEquals(
                2,
                recorder.lines().stream()
                        .filter(line -> line.contains("anthropic.messages") && line.contains("\"start\""))
                        .count());
    }

    /** The administrator edits plugins.toml while the worker runs. */
    @Test
    void whatTheFileSaysNowHoldsForTheNextRequest() throws Exception {
        Recorder recorder = new Recorder();
        AtomicReference<Map<String, Object>> plan = new AtomicReference<>(payloads(false));
        TrafficEvents events = recorder.events(plan::get, 1000);
        byte[] body = ("{\"model\":\"claude-x\",\"messages\":[{\"role\":\"user\",\"content\":\"one\"},"
                        + "{\"role\":\"assistant\",\"content\":\"two\"},{\"role\":\"user\",\"content\":\"three\"}]}")
                .getBytes(StandardCharsets.UTF_8);
        List<Boolean> whole = new ArrayList<>();
        for (boolean full : new boolean[] {false, false, true, false}) {
            plan.set(payloads(full));
            int before = starts(recorder).size();
            events.exchange("/v1/messages", HttpFields.build().add("X-Claude-Code-Session-Id", "s"), Optional.of(body))
                    .end(new Outcome.Completed(200));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (starts(recorder).size() == before) {
                assertTrue(System.nanoTime() < deadline, () -> "no record in " + recorder.lines());
                Thread.onSpinWait();
            }
            whole.add(starts(recorder).getLast().contains("two"));
        }
        // The first of a session is new as a whole.
        assertEquals(List.of(true, false, true, false), whole);
        plan.set(payloads(true));
        Recorder.hook(
                        events,
                        HookAgent.CODEX,
                        "{\"hook_event_name\":\"UserPromptSubmit\",\"session_id\":\"t\",\"prompt\":\"p\"}")
                .join();
        events.close("end", 10_000);
        assertEquals(
                payloads(true),
                recorder.only("codex-turn", "start")
                        .object("metadata")
                        .object("plugin_config")
                        .values());
    }

    private static Map<String, Object> payloads(boolean full) {
        return Map.of(
                "components", List.of(Map.of("kind", "observability", "config", Map.of("enable_full_payloads", full))));
    }

    private static List<String> starts(Recorder recorder) {
        return recorder.lines().stream()
                .filter(line -> line.contains("anthropic.messages") && line.contains("\"scope_category\":\"start\""))
                .toList();
    }

    @Test
    void otherPathsCostNothing() throws Exception {
        TrafficEvents events = new Recorder().events(Map.of(), 1000);
        assertSame(ExchangeListener.NONE, events.exchange("/v1/models", HttpFields.EMPTY, Optional.empty()));
        events.close("end", 10_000);
    }
}
