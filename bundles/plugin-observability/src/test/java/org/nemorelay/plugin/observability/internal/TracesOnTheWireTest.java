package org.nemorelay.plugin.observability.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.math.BigDecimal;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.plugin.api.Event;

/** What a collector reads: OTLP's ExportTraceServiceRequest, decoded from the bytes, in the words of the GenAI conventions. */
@Timeout(60)
class TracesOnTheWireTest {
    private static final long KIND_INTERNAL = 1;
    private static final long KIND_CLIENT = 3;
    private static final long STATUS_OK = 1;
    private static final long STATUS_ERROR = 2;

    private final BlockingQueue<byte[]> got = new LinkedBlockingQueue<>();
    private final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);

    TracesOnTheWireTest() throws IOException {
        server.createContext("/v1/traces", exchange -> {
            got.add(exchange.getRequestBody().readAllBytes());
            exchange.sendResponseHeaders(200, -1);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private static Event event(
            String half, String uuid, String parent, String category, String name, Object profile, Object... metadata) {
        Map<String, Object> more = new HashMap<>(Map.of("session_id", "s1", "agent_kind", "codex"));
        for (int i = 0; i < metadata.length; i += 2) {
            more.put((String) metadata[i], metadata[i + 1]);
        }
        Map<String, Object> envelope = new HashMap<>(Map.of(
                "kind",
                half.equals("mark") ? "mark" : "scope",
                "attributes",
                List.of(),
                "atof_version",
                "0.1",
                "uuid",
                uuid,
                "parent_uuid",
                parent,
                "timestamp",
                half.equals("end") ? "2026-11-30T00:00:01.5+00:00" : "2026-11-30T00:00:00.25+00:00",
                "name",
                name,
                "metadata",
                more));
        envelope.put("category", half.equals("mark") ? null : category);
        envelope.put("category_profile", profile);
        if (!half.equals("mark")) {
            envelope.put("scope_category", half);
        }
        return Event.of(envelope);
    }

    /** A plugin that is removed while one stays keeps its classes in memory. */
    @Test
    void noThreadIsLeft() throws Exception {
        Set<Thread> before = Thread.getAllStackTraces().keySet();
        Map<String, Object> config = new HashMap<>(Map.of("opentelemetry.enabled", true));
        for (int i = 0; i < 2; i++) {
            config.put("opentelemetry.endpoints." + i + ".type", "full");
            config.put(
                    "opentelemetry.endpoints." + i + ".endpoint",
                    "http://127.0.0.1:" + server.getAddress().getPort());
            config.put("opentelemetry.endpoints." + i + ".scheduled_delay_millis", 600_000L);
        }
        Observability plugin = new Observability(config, Clock.systemUTC(), Map.of());
        plugin.onEvent(event("start", "t", "root", "custom", "codex-turn", null));
        plugin.close();
        assertEquals(
                List.of(),
                Thread.getAllStackTraces().keySet().stream()
                        .filter(thread -> !before.contains(thread))
                        .map(Thread::getName)
                        .filter(name -> name.startsWith("BatchSpanProcessor"))
                        .toList());
        assertEquals(2, got.size());
    }

    @Test
    void aTurnWithARequestAToolAndASubAgent() throws Exception {
        Observability plugin = new Observability(
                Map.of(
                        "opentelemetry.enabled",
                        true,
                        "opentelemetry.endpoints.0.type",
                        "gen_ai",
                        "opentelemetry.endpoints.0.endpoint",
                        "http://127.0.0.1:" + server.getAddress().getPort(),
                        "opentelemetry.endpoints.0.service_name",
                        "relay-test",
                        "opentelemetry.endpoints.0.resource_attributes.deployment",
                        "lab"),
                Clock.systemUTC(),
                Map.of());
        // As Anthropic counts: what came from a cache or went to one is beside the input.
        Map<String, Object> usage = Map.of(
                "prompt_tokens", 3L,
                "uncached_input_tokens", 3L,
                "completion_tokens", 3L,
                "total_tokens", 6L,
                "cache_read_tokens", 12L,
                "cache_write_tokens", 5L);
        for (Event event : List.of(
                event("start", "t", "root", "custom", "codex-turn", null, "nemo_relay_scope_role", "turn"),
                event("start", "m", "t", "llm", "openai.responses", Map.of("model_name", "gpt-x")),
                event(
                        "end",
                        "m",
                        "t",
                        "llm",
                        "openai.responses",
                        Map.of(
                                "model_name",
                                "gpt-x",
                                "annotated_response",
                                Map.of(
                                        "model",
                                        "gpt-x-2026",
                                        "id",
                                        "resp_1",
                                        "finish_reason",
                                        "complete",
                                        "usage",
                                        usage,
                                        "api_specific",
                                        Map.of("output_tokens_details", Map.of("reasoning_tokens", 2L)))),
                        "otel.status_code",
                        "OK",
                        "nemo_relay.cost.total",
                        new BigDecimal("0.25")),
                event("start", "a", "t", "agent", "subagent:1", null),
                event("start", "b", "a", "tool", "Bash", Map.of("tool_call_id", "call_1")),
                event(
                        "end",
                        "b",
                        "a",
                        "tool",
                        "Bash",
                        Map.of("tool_call_id", "call_1"),
                        "otel.status_code",
                        "ERROR",
                        "otel.status_description",
                        "no",
                        "error.type",
                        "guardrail_rejected"),
                event("end", "a", "t", "agent", "subagent:1", null),
                event("mark", "k", "t", "", "compaction", null),
                event("mark", "l", "t", "", "llm.chunk", null),
                event("end", "t", "root", "custom", "codex-turn", null))) {
            plugin.onEvent(event);
        }
        plugin.flush();
        plugin.close();

        Protobuf resourceSpans = new Protobuf(got.take()).message(1);
        Map<String, Object> resource = resourceSpans.message(1).attributes(1);
        assertEquals("relay-test", resource.get("service.name"));
        assertEquals("lab", resource.get("deployment"));
        Map<String, Protobuf> spans = new TreeMap<>();
        resourceSpans.message(2).messages(2).forEach(span -> spans.put(span.text(5), span));
        assertEquals(
                "[chat gpt-x, execute_tool Bash, invoke_agent codex, invoke_agent subagent:1]",
                spans.keySet().toString());
        Protobuf turn = spans.get("invoke_agent codex");
        Protobuf model = spans.get("chat gpt-x");
        Protobuf agent = spans.get("invoke_agent subagent:1");
        Protobuf tool = spans.get("execute_tool Bash");

        assertEquals("", turn.hex(4));
        assertEquals(turn.hex(2), model.hex(4));
        assertEquals(turn.hex(2), agent.hex(4));
        assertEquals(agent.hex(2), tool.hex(4));
        for (Protobuf span : spans.values()) {
            assertEquals(turn.hex(1), span.hex(1));
            assertEquals(1_795_996_800_250_000_000L, span.number(7));
            assertEquals(1_250_000_000L, span.number(8) - span.number(7));
        }
        assertNotEquals(turn.hex(2), model.hex(2));
        assertEquals(List.of(KIND_CLIENT, KIND_INTERNAL), List.of(model.number(6), tool.number(6)));
        assertEquals(STATUS_OK, model.message(15).number(3));
        assertEquals(STATUS_ERROR, tool.message(15).number(3));
        assertEquals("no", tool.message(15).text(2));
        assertEquals(
                List.of("compaction"),
                turn.messages(11).stream().map(mark -> mark.text(2)).toList());

        assertEquals(
                new TreeMap<String, Object>(Map.ofEntries(
                        Map.entry("gen_ai.operation.name", "chat"),
                        Map.entry("gen_ai.provider.name", "openai"),
                        Map.entry("gen_ai.request.model", "gpt-x"),
                        Map.entry("gen_ai.response.model", "gpt-x-2026"),
                        Map.entry("gen_ai.response.id", "resp_1"),
                        Map.entry("gen_ai.response.finish_reasons", List.of("stop")),
                        Map.entry("gen_ai.usage.input_tokens", 20L),
                        Map.entry("gen_ai.usage.output_tokens", 3L),
                        Map.entry("gen_ai.usage.cache_read.input_tokens", 12L),
                        Map.entry("gen_ai.usage.cache_write.input_tokens", 5L),
                        Map.entry("gen_ai.usage.reasoning.output_tokens", 2L),
                        Map.entry("gen_ai.conversation.id", "s1"),
                        Map.entry("gen_ai.agent.name", "codex"),
                        Map.entry("nemo_relay.cost.total", 0.25))),
                new TreeMap<>(model.attributes(9)));
        assertEquals(
                Map.of(
                        "gen_ai.operation.name", "execute_tool",
                        "gen_ai.tool.name", "Bash",
                        "gen_ai.tool.type", "function",
                        "gen_ai.tool.call.id", "call_1",
                        "gen_ai.conversation.id", "s1",
                        "gen_ai.agent.name", "codex",
                        "error.type", "guardrail_rejected"),
                tool.attributes(9));
        assertEquals(
                Map.of(
                        "gen_ai.operation.name", "invoke_agent",
                        "gen_ai.conversation.id", "s1",
                        "gen_ai.agent.name", "subagent:1"),
                agent.attributes(9));
        assertEquals(
                Map.of(
                        "gen_ai.operation.name", "invoke_agent",
                        "gen_ai.conversation.id", "s1",
                        "gen_ai.agent.name", "codex"),
                turn.attributes(9));
    }

    @Test
    void finishReasonsAreTheConventionsWords() {
        Map.of("complete", "stop", "length", "length", "tool_use", "tool_call", "content_filter", "content_filter")
                .forEach((recorded, word) -> assertEquals(List.of(word), finished(recorded)));
        assertEquals(List.of("pause_turn"), finished(Map.of("unknown", "pause_turn")));
    }

    @Test
    void whatOpenAiCountsWithinTheInputIsNotCountedTwice() {
        Map<String, Object> attributes = Conventions.ofEnd(event(
                "end",
                "m",
                "t",
                "llm",
                "openai.responses",
                Map.of(
                        "annotated_response",
                        Map.of(
                                "usage",
                                Map.of("prompt_tokens", 20L, "uncached_input_tokens", 8L, "cache_read_tokens", 12L)))));
        assertEquals(20L, attributes.get("gen_ai.usage.input_tokens"));
    }

    private static Object finished(Object reason) {
        return Conventions.ofEnd(event(
                        "end",
                        "m",
                        "t",
                        "llm",
                        "openai.responses",
                        Map.of("annotated_response", Map.of("finish_reason", reason))))
                .get("gen_ai.response.finish_reasons");
    }
}
