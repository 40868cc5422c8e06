package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Relay;

/**
 * A daemon that is told to stop lets running streams end, on either route, and breaks off after two minutes those that did
 * not: such a one never looks complete. In {@code ./test} the two minutes are cut short by {@code
 * NEMO_RELAY_TEST_TIME_SCALE}.
 */
@Timeout(240)
@Execution(ExecutionMode.CONCURRENT)
class DaemonStopTest {
    private static final long STREAMS_MS = 120_000;
    private static final int SCALE = 20;
    private static final String EVENT = "data: on\n\n";

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(Version.class)
    void streamsEndOrAreBrokenOffAtTheEndOfTheTime(Version version) throws Exception {
        stop(version, SCALE);
    }

    @ParameterizedTest
    @EnumSource(Version.class)
    @Tag("long")
    void streamsEndOrAreBrokenOffAfterTwoMinutes(Version version) throws Exception {
        stop(version, 1);
    }

    private void stop(Version version, int scale) throws Exception {
        CountDownLatch finish = new CountDownLatch(1);
        try (OneUser bench = new OneUser(folder, "", Route.WORKER.at(""));
                Clients clients = new Clients();
                Relay relay = Relay.start(
                        bench.user,
                        bench.executable,
                        Relay.upstream(bench.provider).env("NEMO_RELAY_TEST_TIME_SCALE", Integer.toString(scale)));
                McpSession session = McpSession.initialized(bench.user, bench.executable, relay)) {
            for (Route route : Route.values()) {
                bench.provider.respond(route.at("/v1/messages"), (request, reply) -> {
                    reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                    reply.chunk(EVENT);
                    finish.await();
                    reply.chunk(EVENT).end();
                });
                bench.provider.respond(route.at("/v1/responses"), (request, reply) -> {
                    reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                    while (true) {
                        reply.chunk(EVENT);
                        Thread.sleep(100);
                    }
                });
            }
            relay.awaitReadyWorker(session);
            try (Call passing = begun(bench, clients, relay, version, Route.PASS_THROUGH, "/v1/messages");
                    Call served = begun(bench, clients, relay, version, Route.WORKER, "/v1/messages");
                    Call passingForEver = begun(bench, clients, relay, version, Route.PASS_THROUGH, "/v1/responses");
                    Call servedForEver = begun(bench, clients, relay, version, Route.WORKER, "/v1/responses")) {
                long start = System.nanoTime();
                relay.process().signal("TERM");
                Await.until("nothing new is accepted", Duration.ofSeconds(5), () -> refused(relay));
                finish.countDown();
                assertEquals(EVENT, new String(passing.rest(), StandardCharsets.UTF_8), "the rest, to its end");
                assertEquals(EVENT, new String(served.rest(), StandardCharsets.UTF_8), "the rest, to its end");
                assertTrue(relay.process().alive(), "streams are running");
                long limit = STREAMS_MS / scale;
                assertThrows(IOException.class, passingForEver::rest, "it has no end");
                long cut = (System.nanoTime() - start) / 1_000_000;
                assertThrows(IOException.class, servedForEver::rest, "it has no end");
                assertTrue(cut >= limit - 500, "streams had " + cut + " of " + limit + " ms");
                assertTrue(cut <= limit + 5_000, "streams had " + cut + " of " + limit + " ms");
            }
            assertEquals(0, relay.process().awaitExit(Duration.ofSeconds(10)));
            assertTrue(
                    relay.process().stderr().contains("daemon stopped"),
                    relay.process().transcript());
            for (Route route : Route.values()) {
                assertEquals(
                        1, bench.provider.received(route.at("/v1/messages")).size());
                assertEquals(
                        1, bench.provider.received(route.at("/v1/responses")).size());
            }
            // It would look for its daemon for half a minute.
            bench.workers().forEach(worker -> ProcessHandle.of(worker.pid()).ifPresent(ProcessHandle::destroy));
            bench.awaitNoWorkerProcess();
        }
    }

    private static Call begun(OneUser bench, Clients clients, Relay relay, Version version, Route route, String target)
            throws IOException {
        Call call = clients.post(version, relay.port(), target, route.headers(bench.user))
                .data("{}".getBytes(StandardCharsets.UTF_8))
                .end();
        assertEquals(200, call.head().status());
        assertEquals(EVENT, call.read(EVENT.length()));
        return call;
    }

    private static boolean refused(Relay relay) {
        try (Socket client = new Socket("127.0.0.1", relay.port())) {
            return !client.isConnected();
        } catch (IOException e) {
            return true;
        }
    }
}
