package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Answers;
import org.nemorelay.it.Await;
import org.nemorelay.it.Events;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamIntercept;

/** The standard plugins together, and plugins of the administrator's own, between a client and a provider (B2, B9, B12). */
@Timeout(120)
class PluginsActTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final String SECRET = "jane.doe@example.org";

    @TempDir
    Path folder;

    /** Adds a header, and takes the model that its body asks for into another. */
    public static final class Rewriting implements RequestIntercept {
        public Rewriting(Map<String, Object> properties) {}

        @Override
        public CompletionStage<ModelRequest> rewrite(ModelRequest request) {
            return CompletableFuture.completedStage(request.withHeader("x-team", "blue")
                    .withModel(request.model().orElse("") + "-large"));
        }

        @Override
        public boolean needsBody() {
            return true;
        }
    }

    private String standard(int otlpPort) throws Exception {
        Path prices = Files.writeString(folder.resolve("prices.json"), """
                {"version":1,"entries":[{"provider":"p","model_id":"mock-model","aliases":["claude-x","m"],
                 "rates":{"input_per_million":1000000,"output_per_million":1000000}}]}""");
        return """
                [components.config.opentelemetry]
                enabled = true
                [[components.config.opentelemetry.endpoints]]
                type = "gen_ai"
                endpoint = "http://127.0.0.1:%d"
                scheduled_delay_millis = 100
                [[components]]
                kind = "pii_redaction"
                [components.config.builtin]
                action = "redact"
                detector = "email"
                [[components]]
                kind = "pricing"
                [[components.config.sources]]
                type = "file"
                path = "%s"
                [[components]]
                kind = "tool_policy"
                [components.config]
                surfaces = ["hooks", "responses"]
                [[components.config.rules]]
                action = "deny"
                tools = ["Bash"]
                commands = ["rm"]
                """.formatted(otlpPort, prices);
    }

    private static RawHttp.Answer post(OneUser bench, Relay relay, String path, String body) {
        return RawHttp.post(
                relay.port(),
                path,
                body,
                "content-type: application/json",
                "x-nemo-relay-client-token: " + bench.user.token());
    }

    @Test
    void theStandardPluginsWorkTogether() throws Exception {
        MockProvider collector = new MockProvider();
        collector.respond("/v1/traces", (request, reply) -> reply.sized(200, "application/x-protobuf", ""));
        try (OneUser bench = new OneUser(folder, standard(collector.port()));
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            bench.provider.respond(
                    "/v1/messages",
                    (request, reply) -> Answers.stream(reply, Answers.anthropicText("write to " + SECRET)));
            String body =
                    "{ \"model\":\"claude-x\",\"max_tokens\":5, \"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"I am "
                            + SECRET + "\"}]}";
            RawHttp.Answer answer = post(bench, relay, "/v1/messages", body);
            assertTrue(answer.text().contains("write to " + SECRET), answer.text());
            assertEquals(
                    body, bench.provider.received("/v1/messages").getFirst().bodyText());

            JsonObject start = Events.await(bench.events, "start", Events.scope("anthropic.messages", "start"));
            JsonObject content = start.object("data").object("content");
            assertEquals(
                    "I am [REDACTED]", content.objects("messages").getFirst().string("content"));
            assertEquals("claude-x", start.object("category_profile").string("model_name"));
            JsonObject end = Events.await(bench.events, "end", Events.scope("anthropic.messages", "end"));
            assertEquals("USD", end.object("metadata").string("nemo_relay.cost.currency"));
            assertFalse(Files.readString(bench.events).contains(SECRET));
            Await.until(
                    "spans arrive",
                    LIMIT,
                    () -> collector.received("/v1/traces").stream()
                            .anyMatch(request -> request.bodyText().contains("chat claude-x")
                                    && request.bodyText().contains("gen_ai.usage.input_tokens")));

            bench.provider.respond("/v1/messages", Answers.anthropicToolThenText("rm -r /", "bye"));
            String blocked = post(bench, relay, "/v1/messages", body).text();
            assertTrue(blocked.contains("The call of the tool Bash was blocked"), blocked);
            assertFalse(blocked.contains("tool_use"), blocked);
        } finally {
            collector.close();
        }
    }

    @Test
    void anObserverDelaysNothing() throws Exception {
        try (OneUser bench = new OneUser(folder, standard(1));
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            CountDownLatch seen = new CountDownLatch(1);
            CompletableFuture<Boolean> before = new CompletableFuture<>();
            bench.provider.respond("/v1/chat/completions", (request, reply) -> {
                reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                reply.chunk("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"first\"}}]}\n\n");
                // The client has the first event before there is a second one.
                before.complete(seen.await(20, TimeUnit.SECONDS));
                reply.chunk("data: [DONE]\n\n").end();
            });
            try (RawHttp client = new RawHttp(relay.port())) {
                client.send(
                        "POST",
                        "/v1/chat/completions",
                        "{\"model\":\"m\",\"stream\":true,\"messages\":[]}",
                        "x-nemo-relay-client-token: " + bench.user.token());
                client.head();
                assertTrue(new String(client.chunk(), StandardCharsets.UTF_8).contains("first"));
                seen.countDown();
            }
            assertTrue(before.get(30, TimeUnit.SECONDS));
        }
    }

    @Test
    void pluginsOfTheAdministratorsOwnRewriteRequestsAndStreams() throws Exception {
        try (OneUser bench = new OneUser(folder, """
                [[components]]
                kind = "rewriting"
                [[components]]
                kind = "capitals"
                """)) {
            Path plugins = bench.executable.resolve("../../etc/plugins").normalize();
            new PluginJar("rewriting", Rewriting.class, RequestIntercept.class).deploy(plugins);
            new PluginJar("capitals", Capitals.class, StreamIntercept.class).deploy(plugins);
            try (Relay relay = bench.daemon();
                    McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
                relay.awaitReadyWorker(mcp);
                bench.provider.respond("/v1/chat/completions", Answers.chatStream("hello"));
                String answer = post(
                                bench,
                                relay,
                                "/v1/chat/completions",
                                "{\"model\":\"m\", \"stream\":true,\"messages\":[]}")
                        .text();
                assertTrue(answer.contains("HELLO"), answer);
                MockProvider.Received received =
                        bench.provider.received("/v1/chat/completions").getFirst();
                assertEquals(List.of("blue"), received.header("x-team"));
                assertEquals("{\"model\":\"m-large\", \"stream\":true,\"messages\":[]}", received.bodyText());
                assertEquals(List.of(Integer.toString(received.body().length)), received.header("content-length"));

                // A frame of zstd for "{}": read for the plugin, plain for the provider because it was changed.
                byte[] zstd = HexFormat.of().parseHex("28b52ffd20021100007b7d");
                try (RawHttp client = new RawHttp(relay.port())) {
                    client.write(("POST /v1/responses HTTP/1.1\r\nhost: x\r\ncontent-encoding: zstd\r\ncontent-length: "
                                    + zstd.length + "\r\nx-nemo-relay-client-token: " + bench.user.token() + "\r\n\r\n")
                            .getBytes(StandardCharsets.UTF_8));
                    client.write(zstd);
                    assertEquals(200, client.head().status());
                }
                MockProvider.Received decoded =
                        bench.provider.received("/v1/responses").getFirst();
                assertEquals("{\"model\":\"-large\"}", decoded.bodyText());
                assertEquals(List.of(), decoded.header("content-encoding"));
            }
        }
    }
}
