package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.RelayException;

/** A request's way, from the client's socket to worker or provider, through real sockets. */
class RoutingTest {
    private FakeServer provider;
    private FakeServer data;
    private TestDaemon daemon;
    private TestDaemon.User ann;

    @BeforeEach
    void start() throws IOException {
        provider = new FakeServer("provider");
        data = new FakeServer("worker");
        daemon = new TestDaemon()
                .with("anthropic_base_url", provider.url())
                .with("openai_base_url", provider.url() + "/v1")
                .start();
        ann = daemon.user("ann");
    }

    @AfterEach
    void stop() throws IOException {
        daemon.close();
        data.close();
        provider.close();
    }

    private String post(String... headers) throws IOException {
        return RawHttp.once(daemon.port(), RawHttp.post("/v1/messages?beta=true", "{}", headers))
                .body();
    }

    private TestDaemon.Worker launch(TestDaemon.Mcp mcp) throws InterruptedException {
        Directive.LaunchWorker launch = mcp.await(Directive.LaunchWorker.class);
        return daemon.new Worker(ann, data).register(launch.grant());
    }

    @Test
    void requestsGoToTheWorkerOnceItIsReady() throws Exception {
        assertEquals("provider", post());
        assertEquals("provider", post(ann.header()));
        TestDaemon.Mcp mcp = ann.mcp();
        assertInstanceOf(Directive.LaunchWorker.class, mcp.first);
        assertEquals("provider", post(ann.header()));
        TestDaemon.Worker worker = launch(mcp);
        assertEquals("provider", post(ann.header()), "staged is not ready");
        worker.ready();
        assertEquals("worker", post(ann.header()));
        assertEquals("provider", post(), "a request without the token never meets a worker");
        assertEquals(data.url(), mcp.await(Directive.ReuseWorker.class).endpoint());
        String token = worker.registration.dataToken().text();
        assertEquals(List.of("probe " + token, "POST /v1/messages?beta=true"), data.seen);
        assertEquals(token, data.exchanges.getFirst().getRequestHeaders().getFirst("x-nemo-relay-worker-token"));
        assertEquals(null, data.exchanges.getFirst().getRequestHeaders().getFirst("x-nemo-relay-client-token"));
        assertEquals(
                "{\"continue\":true}",
                RawHttp.once(daemon.port(), RawHttp.post("/hooks/claude-code", "{}"))
                        .body());
        assertEquals(
                "worker",
                RawHttp.once(daemon.port(), RawHttp.post("/hooks/claude-code", "{}", ann.header()))
                        .body());
    }

    @Test
    void lastReleaseDrainsAndTheReplacementWaitsForTheExit() throws Exception {
        TestDaemon.Mcp mcp = ann.mcp();
        TestDaemon.Worker worker = launch(mcp).ready();
        CountDownLatch finish = new CountDownLatch(1);
        data.answer = exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("first".getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
            awaitLatch(finish);
            exchange.getResponseBody().write("last".getBytes(StandardCharsets.UTF_8));
            exchange.close();
        };
        try (RawHttp stream = new RawHttp(daemon.port())) {
            stream.send(RawHttp.post("/v1/messages", "{}", ann.header()));
            assertEquals(200, stream.head().status());
            assertEquals("first", stream.chunk());
            mcp.release();
            assertEquals(worker.id, worker.drains.poll(10, TimeUnit.SECONDS).workerId());
            TestDaemon.Mcp next = ann.mcp();
            assertInstanceOf(Directive.WaitForWorker.class, next.first);
            assertEquals("provider", post(ann.header()), "a draining worker gets nothing new");
            finish.countDown();
            assertEquals("last", stream.chunk());
            assertEquals("", stream.chunk());
            TestDaemon.await("the request is over", () -> daemonShows("\"in_flight\":0"));
            assertTrue(daemonShows("\"state\":\"draining\""), "the process has not exited");
            worker.close();
            next.await(Directive.LaunchWorker.class);
            assertFalse(daemonShows("draining"));
        }
    }

    /** Report B14: who reads the log learns that the answer was no whole one, and whose doing it was. */
    @Test
    void inPassThroughAProviderThatBreaksOffIsLoggedAndAClientThatLeavesIsNot() throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        CountDownLatch noticed = new CountDownLatch(1);
        CountDownLatch breakOff = new CountDownLatch(1);
        provider.answer = exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("first".getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
            awaitLatch(left);
            try {
                while (true) {
                    exchange.getResponseBody().write(new byte[10_000]);
                }
            } catch (IOException e) {
                noticed.countDown();
                throw e;
            }
        };
        try (RawHttp stream = new RawHttp(daemon.port())) {
            stream.send(RawHttp.post("/v1/messages", "{}"));
            assertEquals(200, stream.head().status());
            assertEquals("first", stream.chunk());
        }
        left.countDown();
        assertTrue(noticed.await(20, TimeUnit.SECONDS), "the provider's connection is closed");
        provider.answer = exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("first".getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
            awaitLatch(breakOff);
            // Its connection is closed without a last chunk.
            throw new IOException("broken off");
        };
        try (RawHttp stream = new RawHttp(daemon.port())) {
            stream.send(RawHttp.post("/v1/messages", "{}"));
            assertEquals(200, stream.head().status());
            assertEquals("first", stream.chunk());
            assertEquals(List.of(), upstreamFailures(), "a client that left");
            breakOff.countDown();
            assertThrows(IOException.class, stream::chunk);
        }
        TestDaemon.await("it is logged", () -> !upstreamFailures().isEmpty());
        assertEquals(
                List.of("upstream_request_failed [provider, anthropic, reason, body_error, route_mode, pass_through,"
                        + " suppressed_since_last_emit, 0] Provider request failed"),
                upstreamFailures());
    }

    /** What its policies decide about stays with the worker, whatever a provider does to an answer. */
    @Test
    void anAnswerThatBreaksOffLeavesTheWorkerInItsPlace() throws Exception {
        TestDaemon.User ann = daemon.user("ann");
        TestDaemon.Mcp mcp = ann.mcp();
        TestDaemon.Worker worker = daemon.new Worker(ann, data)
                .register(mcp.await(Directive.LaunchWorker.class).grant())
                .ready();
        mcp.await(Directive.ReuseWorker.class);
        for (int i = 0; i < 10; i++) {
            data.answer = exchange -> {
                exchange.sendResponseHeaders(200, 0);
                exchange.getResponseBody().write("first".getBytes(StandardCharsets.UTF_8));
                exchange.getResponseBody().flush();
                throw new IOException("broken off");
            };
            try (RawHttp stream = new RawHttp(daemon.port())) {
                stream.send(RawHttp.post("/v1/messages", "{}", ann.header()));
                assertEquals(200, stream.head().status());
                assertEquals("first", stream.chunk());
                assertThrows(IOException.class, stream::chunk);
            }
            data.answer = exchange -> {
                byte[] text = "worker".getBytes(StandardCharsets.UTF_8);
                exchange.sendResponseHeaders(200, text.length);
                exchange.getResponseBody().write(text);
                exchange.close();
            };
            assertEquals(
                    "worker",
                    RawHttp.once(daemon.port(), RawHttp.post("/v1/messages", "{}", ann.header()))
                            .body());
        }
        assertFalse(worker.gone);
    }

    private List<String> upstreamFailures() {
        return daemon.events.stream()
                .filter(event -> event.startsWith("upstream_request_failed"))
                .toList();
    }

    private static void awaitLatch(CountDownLatch latch) {
        try {
            latch.await(20, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean daemonShows(String text) {
        try {
            return RawHttp.once(daemon.port(), RawHttp.get("/_nemo_relay/v1/workers/status"))
                    .body()
                    .contains(text);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void case53UnreachableWorkerIs502ThenPassThrough() throws Exception {
        TestDaemon.Mcp mcp = ann.mcp();
        TestDaemon.Worker worker = launch(mcp).ready();
        data.close();
        RawHttp.Answer failed = RawHttp.once(daemon.port(), RawHttp.post("/v1/messages", "{}", ann.header()));
        assertEquals(502, failed.status());
        assertFalse(failed.body().contains("127.0.0.1"), "no harness learns a worker's address");
        try {
            TestDaemon.await("the worker's socket is closed", () -> worker.gone);
        } catch (AssertionError e) {
            System.err.println(failed + " " + daemon.events);
            throw e;
        }
        assertEquals("provider", post(ann.header()));
        assertTrue(daemonShows("\"control_available\":false"));
    }

    @Test
    void workerThatLostControlRecoversUnderANewToken() throws Exception {
        TestDaemon.Mcp mcp = ann.mcp();
        TestDaemon.Worker worker = launch(mcp).ready();
        String before = worker.registration.dataToken().text();
        worker.close();
        TestDaemon.await("control is lost", () -> daemonShows("\"control_available\":false"));
        assertEquals("provider", post(ann.header()));
        Map<String, Object> away = daemon.server.run(Map.of());
        assertTrue(away.get("routes").toString().matches(".*state=reconnecting,.* seconds_left=(30|[12][0-9]).*"));
        assertTrue(away.get("workers").toString().contains("state=reconnecting"), away::toString);
        worker.recover().ready();
        Map<String, Object> back = daemon.server.run(Map.of());
        assertTrue(back.get("routes").toString().contains("state=ready"), back::toString);
        assertFalse(back.toString().contains("seconds_left"), back::toString);
        assertEquals("worker", post(ann.header()));
        assertNotEquals(before, worker.registration.dataToken().text());
    }

    @Test
    void case86And87WorkerOfAnEarlierDaemonProcessReturns() throws Exception {
        TestDaemon.Mcp mcp = ann.mcp();
        TestDaemon.Worker worker = launch(mcp).ready();
        daemon.restart();
        TestDaemon.await("sockets are closed", () -> mcp.gone && worker.gone);
        mcp.register(ann.token);
        assertInstanceOf(Directive.WaitForWorker.class, mcp.first);
        worker.recover();
        assertEquals("provider", post(ann.header()));
        worker.ready();
        assertEquals("worker", post(ann.header()));
    }

    @Test
    void case77ProbeThatIsNot204FailsTheLaunch() throws Exception {
        TestDaemon.Mcp mcp = ann.mcp();
        data.readyStatus = 200;
        TestDaemon.Worker worker = launch(mcp);
        RelayException refused = assertThrows(RelayException.class, worker::ready);
        assertTrue(refused.getMessage().contains("probe"), "the reply comes before the end of the connection");
        mcp.await(Directive.UsePassThrough.class);
        TestDaemon.await("the staged worker is released", () -> worker.gone);
        data.readyStatus = 204;
        launch(mcp).ready();
        assertEquals("worker", post(ann.header()));
    }

    @Test
    void lostOwnerHandsTheLaunchToAnotherSession() throws Exception {
        TestDaemon.Mcp first = ann.mcp();
        TestDaemon.Mcp second = ann.mcp();
        assertInstanceOf(Directive.WaitForWorker.class, second.first);
        TestDaemon.Worker staged = launch(first);
        first.close();
        Directive.LaunchWorker fresh = second.await(Directive.LaunchWorker.class);
        TestDaemon.await("the staged worker is released", () -> staged.gone);
        daemon.new Worker(ann, data).register(fresh.grant()).ready();
        assertEquals("worker", post(ann.header()));
    }

    @Test
    void twoSessionsShareAWorkerAndTwoUsersDoNot() throws Exception {
        TestDaemon.User bob = daemon.user("bob");
        TestDaemon.Mcp mcp = ann.mcp();
        TestDaemon.Worker worker = launch(mcp).ready();
        assertInstanceOf(Directive.ReuseWorker.class, ann.mcp().first);
        assertInstanceOf(Directive.LaunchWorker.class, bob.mcp().first);
        assertEquals("provider", post(bob.header()));
        assertEquals(
                "{\"instance_id\":\"" + instanceId() + "\",\"status\":\"ok\",\"workers\":[\"" + worker.id + "\"]}",
                RawHttp.once(daemon.port(), RawHttp.get("/_nemo_relay/v1/workers"))
                        .body());
    }

    private String instanceId() throws IOException {
        String health = RawHttp.once(daemon.port(), RawHttp.get("/healthz")).body();
        int start = health.indexOf("\"instance_id\":\"") + 15;
        return health.substring(start, start + 36);
    }

    /** With and without a session; a worker's own limit is 502 (relay-daemon 0.1). */
    @Test
    void providerThatIsSilentForLongerThanAllowedIs504() throws Exception {
        daemon.stop();
        daemon.with("response_timeout_secs", 1L).start();
        CountDownLatch over = new CountDownLatch(1);
        provider.answer = exchange -> {
            awaitLatch(over);
            exchange.close();
        };
        for (String[] headers : List.of(new String[0], new String[] {ann.header()})) {
            RawHttp.Answer late = RawHttp.once(daemon.port(), RawHttp.post("/v1/messages", "{}", headers));
            assertEquals(504, late.status());
            assertTrue(late.body().contains("within 1000 ms"), late.body());
        }
        over.countDown();
    }

    @Test
    void case57CallersCredentialBeatsTheDaemonsOwnAndAnonymousGetsNone() throws Exception {
        daemon.stop();
        daemon.environment.put("ANTHROPIC_API_KEY", " sk-daemon ");
        daemon.start();
        post();
        post("x-api-key: sk-anonymous");
        TestDaemon.Mcp mcp = ann.mcp();
        post(ann.header());
        post(ann.header(), "x-api-key: sk-caller");
        mcp.close();
        assertEquals(
                java.util.Arrays.asList(null, "sk-anonymous", "sk-daemon", "sk-caller"),
                provider.exchanges.stream()
                        .map(exchange -> exchange.getRequestHeaders().getFirst("x-api-key"))
                        .toList());
    }

    @Test
    void case38AProvidersCatalogIsNotStoredAndIsAskedForWithTheUsersOwnKey() throws Exception {
        provider.answer = exchange -> {
            exchange.getResponseHeaders().add("Cache-Control", "public, max-age=600");
            exchange.getResponseHeaders().add("Cache-Control", "immutable");
            FakeServer.text(exchange, 200, exchange.getRequestHeaders().getFirst("Authorization"));
        };
        for (String key : List.of("Bearer ann", "Bearer bob")) {
            RawHttp.Answer catalog = RawHttp.once(daemon.port(), RawHttp.get("/v1/models", "authorization: " + key));
            assertEquals(key, catalog.body());
            assertEquals(
                    List.of("no-store"),
                    catalog.headers().stream()
                            .filter(line ->
                                    line.toLowerCase(java.util.Locale.ROOT).startsWith("cache-control:"))
                            .map(line -> line.substring(14).strip())
                            .toList());
        }
    }

    @Test
    void case51WhatIsOursDoesNotReachAProviderInPassThroughEither() throws Exception {
        post("x-nemo-relay-session-id: s", "x-nemo-relay-anything: a", "x-other: o");
        var seen = provider.exchanges.getFirst().getRequestHeaders();
        assertTrue(
                seen.keySet().stream()
                        .noneMatch(
                                name -> name.toLowerCase(java.util.Locale.ROOT).startsWith("x-nemo-relay-")),
                seen.toString());
        assertEquals("o", seen.getFirst("x-other"));
    }

    @Test
    void case82NamedUpstreamIsForBoundRoutesOnly() throws Exception {
        String named = "x-nemo-relay-upstream-base-url: " + provider.url() + "/named";
        RawHttp.Answer anonymous = RawHttp.once(daemon.port(), RawHttp.post("/v1/messages", "{}", named));
        assertEquals(503, anonymous.status());
        assertEquals("1", anonymous.header("retry-after"));
        assertEquals("{\"error\":{\"message\":\"route is not ready\"}}", anonymous.body());
        assertEquals(List.of(), provider.seen);
        TestDaemon.Mcp mcp = ann.mcp();
        assertEquals(
                400,
                RawHttp.once(daemon.port(), RawHttp.post("/v1/messages", "{}", named, ann.header()))
                        .status());
        assertEquals(
                400,
                RawHttp.once(
                                daemon.port(),
                                RawHttp.post(
                                        "/v1/messages",
                                        "{}",
                                        "x-nemo-relay-upstream-base-url: http://provider.example",
                                        "x-api-key: k",
                                        ann.header()))
                        .status());
        assertEquals(
                200,
                RawHttp.once(daemon.port(), RawHttp.post("/v1/messages", "{}", named, "x-api-key: k", ann.header()))
                        .status());
        assertEquals(List.of("POST /named/v1/messages"), provider.seen);
        mcp.close();
    }

    @Test
    void stopLetsRunningStreamsEnd() throws Exception {
        CountDownLatch finish = new CountDownLatch(1);
        provider.answer = exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("first".getBytes(StandardCharsets.UTF_8));
            exchange.getResponseBody().flush();
            awaitLatch(finish);
            exchange.getResponseBody().write("last".getBytes(StandardCharsets.UTF_8));
            exchange.close();
        };
        TestDaemon.Mcp mcp = ann.mcp();
        try (RawHttp stream = new RawHttp(daemon.port())) {
            stream.send(RawHttp.post("/v1/messages", "{}"));
            stream.head();
            assertEquals("first", stream.chunk());
            Thread stopping = new Thread(() -> daemon.server.stop());
            stopping.start();
            TestDaemon.await("control sockets close at once", () -> mcp.gone);
            stopping.join(2_500);
            assertTrue(stopping.isAlive(), "a stream is still running");
            finish.countDown();
            assertEquals("last", stream.chunk());
            assertEquals("", stream.chunk());
            stopping.join(20_000);
            assertFalse(stopping.isAlive());
        }
    }

    @Test
    void sixtyFourSessionsOfOneMachineComeUpTogether() throws Exception {
        List<Thread> threads = new java.util.ArrayList<>();
        List<TestDaemon.Mcp> up = new java.util.concurrent.CopyOnWriteArrayList<>();
        for (int i = 0; i < 64; i++) {
            TestDaemon.User user = daemon.user("user-" + i);
            threads.add(Thread.ofVirtual().start(() -> up.add(user.mcp())));
        }
        for (Thread thread : threads) {
            thread.join(30_000);
        }
        assertEquals(64, up.size());
        up.forEach(TestDaemon.Mcp::close);
    }
}
