package org.nemorelay.it.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Answers;
import org.nemorelay.it.Await;
import org.nemorelay.it.Events;
import org.nemorelay.it.Maker;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/**
 * The daemon of one maker with the lifecycle client and the worker of another. Daemon and worker have different
 * providers, so that a request which took the way past the worker is seen at the wrong one. Stock with stock shows that
 * this bench itself works.
 */
class MixedPeersTest {
    private static final String REQUEST =
            "{\"model\":\"mock-model\",\"max_tokens\":16,\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"say hi\"}]}";
    private static final String HOOK =
            "{\"session_id\":\"s-1\",\"transcript_path\":\"/x/t.jsonl\",\"cwd\":\"/x\",\"hook_event_name\":\"PreToolUse\","
                    + "\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"echo hi\"},\"tool_use_id\":\"toolu_1\"}";

    @TempDir
    Path folder;

    @ParameterizedTest(name = "{0} daemon, {1} client and worker")
    @CsvSource({"STOCK, STOCK", "OURS, STOCK", "STOCK, OURS"})
    void aStreamedRequestAndAHookGoThroughTheWorker(Maker daemonMaker, Maker clientMaker) {
        try (Bench bench = new Bench(folder, daemonMaker, clientMaker);
                McpSession mcp = bench.session()) {
            assertEquals(
                    "nemo-relay",
                    mcp.initialize().object("result").object("serverInfo").string("name"));
            bench.relay.awaitReadyWorker(mcp);

            streamsEventByEvent(bench);
            carriesALargeBody(bench);
            RawHttp.Answer hook = RawHttp.post(
                    bench.relay.port(),
                    "/hooks/claude-code",
                    HOOK,
                    bench.user.header(),
                    "content-type: application/json");
            assertEquals(200, hook.status(), hook.text());
            assertEquals("{\"continue\":true}", hook.text());

            assertEquals(List.of(), bench.pastTheWorker.received());
            Events.await(bench.events, "LLM start", Events.scope("anthropic.messages", "start"));
            Events.await(bench.events, "LLM end", Events.scope("anthropic.messages", "end"));
            Events.await(bench.events, "tool start", Events.scope("Bash", "start"));

            bench.workerRefusesStrangers();
            assertEquals(0, mcp.end(), mcp.process().transcript());
            bench.relay.awaitNoWorker(Duration.ofSeconds(10));
            Await.until(
                    "the worker process ended\n" + mcp.process().transcript(),
                    Duration.ofSeconds(10),
                    () -> bench.workers().isEmpty());
        }
    }

    @ParameterizedTest(name = "{0} daemon, {1} client and worker")
    @CsvSource({"STOCK, STOCK", "OURS, STOCK", "STOCK, OURS"})
    void twoSessionsShareTheWorkerUntilTheLastLeaves(Maker daemonMaker, Maker clientMaker) {
        try (Bench bench = new Bench(folder, daemonMaker, clientMaker);
                McpSession first = bench.session();
                McpSession second = bench.session()) {
            first.initialize();
            String worker = bench.relay.awaitReadyWorker(first, second);
            second.initialize();
            assertEquals(1, bench.workers().size());
            assertEquals(0, first.end(), first.process().transcript());
            Await.until(
                    "one session is left",
                    Duration.ofSeconds(5),
                    () -> bench.relay.workers().getFirst().integer("reference_count", 0, 10) == 1);
            assertEquals(worker, bench.relay.awaitReadyWorker(second));
            assertEquals(0, second.end(), second.process().transcript());
            bench.relay.awaitNoWorker(Duration.ofSeconds(10));
        }
    }

    @ParameterizedTest(name = "{0} daemon, {1} client and worker")
    @CsvSource({"STOCK, STOCK", "OURS, STOCK", "STOCK, OURS"})
    void trailersAndACancellationCrossBothHops(Maker daemonMaker, Maker clientMaker) {
        CountDownLatch cancelled = new CountDownLatch(1);
        try (Bench bench = new Bench(folder, daemonMaker, clientMaker);
                McpSession mcp = bench.session()) {
            mcp.initialize();
            bench.relay.awaitReadyWorker(mcp);
            bench.behindTheWorker
                    .respond("/v1/responses", (request, reply) -> {
                        reply.head(200, "trailer: x-sum, x-part", "transfer-encoding: chunked");
                        reply.chunk("body").end("x-sum: 42", "x-part: a", "x-part: b");
                    })
                    .respond("/v1/messages", (request, reply) -> {
                        reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                        try {
                            while (true) {
                                reply.chunk("event: ping\n\n");
                                Thread.sleep(10);
                            }
                        } catch (IOException closed) {
                            cancelled.countDown();
                            throw closed;
                        }
                    });
            try (RawHttp http = new RawHttp(bench.relay.port())) {
                http.send("POST", "/v1/responses", "{}", bench.user.header(), "te: trailers");
                assertEquals("body", http.answer().text());
                assertEquals(List.of("x-sum: 42", "x-part: a", "x-part: b"), http.trailers());
                http.send("POST", "/v1/messages", REQUEST, bench.user.header());
                assertEquals(200, http.head().status());
                assertTrue(http.chunk().length > 0);
            }
            Await.until("the provider lost its reader", Duration.ofSeconds(5), () -> cancelled.getCount() == 0);
            Await.until(
                    "nothing is in flight",
                    Duration.ofSeconds(5),
                    () -> bench.relay.workers().getFirst().integer("in_flight", 0, 10) == 0);
            assertEquals(List.of(), bench.pastTheWorker.received());
        }
    }

    private static void streamsEventByEvent(Bench bench) {
        CountDownLatch release = new CountDownLatch(1);
        bench.behindTheWorker.respond("/v1/messages", (request, reply) -> {
            List<String> events = Answers.anthropicText("MOCK-FINAL-TEXT");
            reply.head(200, "content-type: text/event-stream", "x-request-id: req_1", "transfer-encoding: chunked");
            reply.chunk(events.getFirst());
            release.await();
            for (String event : events.subList(1, events.size())) {
                reply.chunk(event);
            }
            reply.end();
        });
        List<String> expected = Answers.anthropicText("MOCK-FINAL-TEXT");
        try (RawHttp http = new RawHttp(bench.relay.port())) {
            http.send(
                    "POST",
                    "/v1/messages?beta=true",
                    REQUEST,
                    bench.user.header(),
                    "content-type: application/json",
                    "x-api-key: caller-key",
                    "x-multi: 1",
                    "x-multi: 2");
            RawHttp.Answer head = http.head();
            assertEquals(200, head.status());
            assertEquals(List.of("req_1"), head.header("x-request-id"));
            StringBuilder text = new StringBuilder();
            while (text.length() < expected.getFirst().length()) {
                text.append(new String(http.chunk(), StandardCharsets.UTF_8));
            }
            assertEquals(expected.getFirst(), text.toString());
            release.countDown();
            for (byte[] chunk = http.chunk(); chunk.length > 0; chunk = http.chunk()) {
                text.append(new String(chunk, StandardCharsets.UTF_8));
            }
            assertEquals(String.join("", expected), text.toString());
        }
        MockProvider.Received received =
                bench.behindTheWorker.received("/v1/messages").getFirst();
        assertEquals("/v1/messages?beta=true", received.target());
        assertEquals(REQUEST, received.bodyText());
        assertEquals(List.of("caller-key"), received.header("x-api-key"));
        assertEquals(List.of("1", "2"), received.header("x-multi"));
        assertTrue(
                received.headers().stream()
                        .noneMatch(header -> header.getKey().toLowerCase().startsWith("x-nemo-relay-")),
                received.headers().toString());
    }

    /** Larger than every window of the two connections, both ways. */
    private static void carriesALargeBody(Bench bench) {
        String body = "{\"input\":\"" + "0123456789abcdef".repeat(512 * 1024) + "\"}";
        bench.behindTheWorker.respond(
                "/v1/responses", (request, reply) -> reply.sized(200, "application/json", request.bodyText()));
        RawHttp.Answer answer = RawHttp.post(
                bench.relay.port(), "/v1/responses", body, bench.user.header(), "content-type: application/json");
        assertEquals(200, answer.status(), answer.text());
        assertTrue(answer.text().equals(body), "the body of " + body.length() + " bytes came back changed");
    }

    private static final class Bench implements AutoCloseable {
        final MockProvider pastTheWorker = new MockProvider();
        final MockProvider behindTheWorker = new MockProvider();
        final Path events;
        final User service;
        final User user;
        final Maker.Program client;
        final Relay relay;

        Bench(Path folder, Maker daemonMaker, Maker clientMaker) {
            events = folder.resolve("events.jsonl");
            service = User.self(folder.resolve("service"));
            user = User.self(folder.resolve("home"));
            client = clientMaker.configured(
                    folder.resolve("client"), Relay.upstreamToml(behindTheWorker), Relay.observabilityToml(folder));
            relay = Relay.start(service, daemonMaker.executable(), Relay.upstream(pastTheWorker));
        }

        McpSession session() {
            return McpSession.start(client.around()
                    .apply(user.withToken(
                                    client.executable().toString(),
                                    "daemon",
                                    "mcp",
                                    "--daemon-address",
                                    relay.address())
                            .env("NEMO_RELAY_LOG", "info")));
        }

        List<ProcessTable.Entry> workers() {
            return ProcessTable.mentioning(user.home().toString()).stream()
                    .filter(process -> process.arguments().contains("worker"))
                    .toList();
        }

        void workerRefusesStrangers() {
            for (ProcessTable.Entry worker : workers()) {
                for (int port : ProcessTable.listeningPorts(worker.pid())) {
                    assertEquals(401, RawHttp.post(port, "/v1/messages", "{}").status());
                }
            }
        }

        @Override
        public void close() {
            relay.close();
            pastTheWorker.close();
            behindTheWorker.close();
        }
    }
}
