package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Answers;
import org.nemorelay.it.Await;
import org.nemorelay.it.Events;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.json.JsonObject;

/** One model request and one hook, harness side to provider and back, through every real process. */
class WholeLineTest {
    private static final String REQUEST =
            "{\"model\":\"mock-model\",\"max_tokens\":16,\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"say hi\"}]}";

    @TempDir
    Path folder;

    @Test
    void requestAndHookTravelThroughTheWorkerAndAreRecorded() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.start(bench.user, bench.executable, relay)) {
            JsonObject initialized = mcp.initialize();
            assertEquals(
                    "nemo-relay",
                    initialized.object("result").object("serverInfo").string("name"));
            String worker = relay.awaitReadyWorker(mcp);

            RawHttp.Answer answer = RawHttp.post(
                    relay.port(),
                    "/v1/messages?beta=true",
                    REQUEST,
                    bench.user.header(),
                    "content-type: application/json",
                    "x-api-key: caller-key");
            assertEquals(200, answer.status());
            assertEquals(String.join("", Answers.anthropicText("MOCK-FINAL-TEXT")), answer.text());

            var received = bench.provider.received("/v1/messages");
            assertEquals(1, received.size());
            assertEquals("/v1/messages?beta=true", received.getFirst().target());
            assertEquals(REQUEST, received.getFirst().bodyText());
            assertEquals(List.of("caller-key"), received.getFirst().header("x-api-key"));
            assertEquals(List.of(), received.getFirst().header("x-nemo-relay-client-token"));
            assertEquals(List.of(), received.getFirst().header("x-nemo-relay-worker-token"));

            Proc.Result hook = bench.user
                    .withToken(
                            bench.executable.toString(),
                            "daemon",
                            "hook",
                            "claude",
                            "--daemon-address",
                            relay.address())
                    .run(
                            ("{\"session_id\":\"s-1\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\","
                                            + "\"tool_input\":{\"command\":\"echo hi\"},\"tool_use_id\":\"toolu_1\"}")
                                    .getBytes(StandardCharsets.UTF_8),
                            Duration.ofSeconds(10));
            assertEquals(0, hook.exit(), hook.stderr());
            assertTrue(hook.stdout().contains("\"continue\":true"), hook.stdout());

            Events.await(bench.events, "LLM start", Events.scope("anthropic.messages", "start"));
            Events.await(bench.events, "LLM end", Events.scope("anthropic.messages", "end"));
            Events.await(bench.events, "tool start", Events.scope("Bash", "start"));

            assertEquals(0, mcp.end());
            relay.awaitNoWorker(Duration.ofSeconds(10));
            Await.until(
                    "the worker process ended: " + worker,
                    Duration.ofSeconds(10),
                    () -> ProcessTable.mentioning(bench.user.home().toString()).stream()
                            .noneMatch(process -> process.arguments().contains("worker")));
        }
        assertEquals(List.of(), ProcessTable.mentioning(folder.resolve("home").toString()));
    }

    @Test
    void case107TheFirstEventIsVisibleWhileTheProviderWithholdsTheSecond() {
        CountDownLatch release = new CountDownLatch(1);
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay);
                RawHttp http = new RawHttp(relay.port())) {
            bench.provider.respond("/v1/messages", (request, reply) -> {
                reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                reply.chunk("event: one\n\n");
                release.await();
                reply.chunk("event: two\n\n");
                reply.end();
            });
            relay.awaitReadyWorker(mcp);
            http.send("POST", "/v1/messages", REQUEST, bench.user.header());
            assertEquals(200, http.head().status());
            assertEquals("event: one\n\n", new String(http.chunk(), StandardCharsets.UTF_8));
            release.countDown();
            assertEquals("event: two\n\n", new String(http.chunk(), StandardCharsets.UTF_8));
            assertEquals(0, http.chunk().length);
            assertTrue(mcp.process().alive());
        }
    }
}
