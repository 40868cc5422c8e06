package org.nemorelay.plugin.observability.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.plugin.api.Event;

/** Lines and traces over HTTP, to a server that keeps what it gets. */
@Timeout(60)
class HttpSinksTest {
    private final List<String> got = new CopyOnWriteArrayList<>();
    private volatile int status = 200;
    private final HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    private final String url = "http://127.0.0.1:" + server.getAddress().getPort();

    HttpSinksTest() throws IOException {
        server.createContext("/", exchange -> {
            got.add(exchange.getRequestURI() + " "
                    + exchange.getRequestHeaders().getFirst("Content-type") + " "
                    + exchange.getRequestHeaders().getFirst("X-key") + " "
                    + new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.ISO_8859_1));
            exchange.sendResponseHeaders(status, -1);
            exchange.close();
        });
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    private static Observability plugin(Object... keysAndValues) {
        Map<String, Object> config = new HashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            config.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return new Observability(config, Clock.systemUTC(), Map.of("KEY", "k1"));
    }

    private static Event scope(String end, String uuid, String parent, String category, String name, Object profile) {
        Map<String, Object> envelope = new HashMap<>();
        envelope.put("kind", "scope");
        envelope.put("scope_category", end);
        envelope.put("category", category);
        envelope.put("attributes", List.of());
        envelope.put("atof_version", "0.1");
        envelope.put("uuid", uuid);
        envelope.put("parent_uuid", parent);
        envelope.put("timestamp", "2026-11-30T00:00:0" + (end.equals("start") ? 0 : 1) + "+00:00");
        envelope.put("name", name);
        envelope.put("category_profile", profile);
        envelope.put("data", Map.of("a.b", "secret text"));
        envelope.put("metadata", Map.of("session_id", "s1", "otel.status_code", "OK"));
        return Event.of(envelope);
    }

    @Test
    void eachEventIsOnePostOfOneLine() throws Exception {
        Observability plugin = plugin(
                "atof.enabled", true,
                "atof.sinks.0.type", "stream",
                "atof.sinks.0.url", url + "/atof",
                "atof.sinks.0.header_env.x-key", "KEY",
                "atof.sinks.0.field_name_policy", "replace_dots");
        plugin.onEvent(scope("start", "u1", "r", "tool", "Bash", null));
        plugin.onEvent(scope("end", "u1", "r", "tool", "Bash", null));
        plugin.flush();
        assertEquals(2, got.size());
        assertTrue(got.getFirst().startsWith("/atof application/x-ndjson k1 {"), got.toString());
        assertTrue(got.getFirst().endsWith("}\n"), got.toString());
        assertTrue(got.getFirst().contains("\"a_b\":\"secret text\""), got.toString());
        plugin.close();
    }

    @Test
    void whatDoesNotArriveIsToldAtTheFlush() throws Exception {
        status = 500;
        Observability plugin =
                plugin("atof.enabled", true, "atof.sinks.0.type", "stream", "atof.sinks.0.url", url + "/atof?token=t");
        plugin.onEvent(scope("start", "u1", "r", "tool", "Bash", null));
        IOException failure = assertThrows(IOException.class, plugin::flush);
        assertEquals("1 events did not reach " + url + "/atof: it answered 500", failure.getMessage());
        assertThrows(IOException.class, plugin::flush, "as long as the last event did not arrive");
        failure = assertThrows(IOException.class, () -> plugin.onEvent(scope("end", "u1", "r", "tool", "Bash", null)));
        assertTrue(failure.getMessage().contains("did not reach"), failure.getMessage());
        failure = assertThrows(IOException.class, plugin::flush);
        assertEquals("2 events did not reach " + url + "/atof: it answered 500", failure.getMessage());
        status = 200;
        assertThrows(IOException.class, () -> plugin.onEvent(scope("start", "u2", "r", "tool", "Bash", null)));
        plugin.flush();
        plugin.onEvent(scope("end", "u2", "r", "tool", "Bash", null));
        plugin.flush();
        plugin.close();
    }

    @Test
    void scopesAreSpansInTheWordsOfTheConventions() throws Exception {
        Observability plugin = plugin(
                "opentelemetry.enabled", true,
                "opentelemetry.endpoints.0.type", "gen_ai",
                "opentelemetry.endpoints.0.endpoint", url,
                "opentelemetry.endpoints.0.service_name", "relay-test",
                "opentelemetry.endpoints.0.headers.x-key", "k2");
        plugin.onEvent(scope("start", "t", "root", "custom", "codex-turn", null));
        plugin.onEvent(scope("start", "u1", "t", "llm", "openai.responses", Map.of()));
        plugin.onEvent(scope(
                "end",
                "u1",
                "t",
                "llm",
                "openai.responses",
                Map.of(
                        "annotated_response",
                        Map.of(
                                "model",
                                "gpt-x",
                                "id",
                                "resp_1",
                                "finish_reason",
                                "complete",
                                "usage",
                                Map.of("prompt_tokens", 12L, "completion_tokens", 3L)))));
        plugin.onEvent(scope("end", "t", "root", "custom", "codex-turn", null));
        plugin.flush();
        assertEquals(1, got.size());
        String body = got.getFirst();
        assertTrue(body.startsWith("/v1/traces application/x-protobuf k2 "), body);
        for (String word : List.of(
                "relay-test",
                "codex-turn",
                "chat gpt-x",
                "gen_ai.operation.name",
                "gen_ai.provider.name",
                "gen_ai.response.model",
                "gen_ai.response.id",
                "gen_ai.usage.input_tokens",
                "gen_ai.usage.output_tokens",
                "gen_ai.conversation.id")) {
            assertTrue(body.contains(word), word);
        }
        assertFalse(body.contains("secret text"));
        plugin.close();
    }

    @Test
    void aFullEndpointGetsWhatWasSaid() throws Exception {
        Observability plugin = plugin(
                "opentelemetry.enabled",
                true,
                "opentelemetry.endpoints.0.type",
                "full",
                "opentelemetry.endpoints.0.endpoint",
                url + "/other");
        plugin.onEvent(scope("start", "u1", "t", "tool", "Bash", Map.of("tool_call_id", "c1")));
        plugin.onEvent(scope("end", "u1", "t", "tool", "Bash", Map.of("tool_call_id", "c1")));
        plugin.flush();
        assertTrue(got.getFirst().startsWith("/other "), got.getFirst());
        for (String word : List.of("execute_tool Bash", "gen_ai.tool.call.id", "secret text", "nemo_relay.output")) {
            assertTrue(got.getFirst().contains(word), word);
        }
        plugin.close();
    }

    @Test
    void anEndpointThatIsGoneIsToldAtTheFlush() throws Exception {
        Observability plugin = plugin(
                "opentelemetry.enabled",
                true,
                "opentelemetry.endpoints.0.type",
                "full",
                "opentelemetry.endpoints.0.endpoint",
                "http://127.0.0.1:1",
                "opentelemetry.endpoints.0.timeout_millis",
                500L);
        plugin.onEvent(scope("start", "u1", "t", "tool", "Bash", null));
        plugin.onEvent(scope("end", "u1", "t", "tool", "Bash", null));
        IOException failure = assertThrows(IOException.class, plugin::flush);
        assertTrue(failure.getMessage().startsWith("1 spans did not reach http://127.0.0.1:1"), failure.getMessage());
        plugin.close();
    }
}
