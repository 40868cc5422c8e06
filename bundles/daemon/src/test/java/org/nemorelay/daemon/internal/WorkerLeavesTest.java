package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.SessionPayload;

/** A worker that says that it leaves: nothing new goes to it, it is let go when nothing is under way, and then replaced. */
class WorkerLeavesTest {
    private static final String CALL = "/v1/messages";

    private FakeServer provider;
    private FakeServer data;
    private TestDaemon daemon;
    private TestDaemon.User ann;
    private TestDaemon.Mcp mcp;

    @BeforeEach
    void start() throws Exception {
        provider = new FakeServer("provider");
        data = new FakeServer("worker");
        daemon = new TestDaemon().with("anthropic_base_url", provider.url());
    }

    @AfterEach
    void stop() throws IOException {
        daemon.close();
        data.close();
        provider.close();
    }

    private TestDaemon.Worker staged() throws InterruptedException {
        daemon.start();
        ann = daemon.user("ann");
        mcp = ann.mcp();
        return daemon.new Worker(ann, data)
                .register(mcp.await(Directive.LaunchWorker.class).grant());
    }

    private RawHttp.Answer post() throws IOException {
        return RawHttp.once(daemon.port(), RawHttp.post(CALL, "{}", ann.header()));
    }

    private static void leave(TestDaemon.Worker worker) {
        worker.registration.session().request(new SessionPayload.Leave());
    }

    @Test
    void itsRunningRequestEndsBeforeItIsLetGoAndWhatIsNewPassesThrough() throws Exception {
        TestDaemon.Worker worker = staged().ready();
        CountDownLatch finish = new CountDownLatch(1);
        data.answer = exchange -> {
            exchange.sendResponseHeaders(200, 0);
            exchange.getResponseBody().write("first".getBytes(StandardCharsets.US_ASCII));
            exchange.getResponseBody().flush();
            try {
                finish.await(60, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
            exchange.getResponseBody().write("last".getBytes(StandardCharsets.US_ASCII));
            exchange.close();
        };
        try (RawHttp stream = new RawHttp(daemon.port())) {
            stream.send(RawHttp.post(CALL, "{}", ann.header()));
            assertEquals(200, stream.head().status());
            assertEquals("first", stream.chunk());
            leave(worker);
            assertEquals("provider", post().body());
            assertTrue(shown().contains("draining"), shown());
            TestDaemon.await(
                    () -> daemon.events.toString(),
                    () -> daemon.events.stream()
                            .anyMatch(line ->
                                    line.contains("worker_drain_started") && line.contains("reason, worker_leaves")));
            assertTrue(worker.drains.isEmpty(), "a request is under way");
            finish.countDown();
            assertEquals("last", stream.chunk());
            assertEquals(worker.id, worker.drains.poll(60, TimeUnit.SECONDS).workerId());
            assertTrue(shown().contains("draining"), "the process has not exited: " + shown());
            worker.close();
            mcp.await(Directive.LaunchWorker.class);
            assertEquals(
                    1,
                    data.seen.stream().filter(line -> line.startsWith("POST")).count(),
                    data.seen::toString);
        }
    }

    @Test
    void withNothingUnderWayItIsLetGoAtOnce() throws Exception {
        TestDaemon.Worker worker = staged().ready();
        leave(worker);
        assertEquals(worker.id, worker.drains.poll(60, TimeUnit.SECONDS).workerId());
        worker.close();
        mcp.await(Directive.LaunchWorker.class);
    }

    @Test
    void underRequireWorkerWhatIsNewIsUnavailable() throws Exception {
        daemon.with("require_worker", true);
        leave(staged().ready());
        assertEquals(503, post().status());
        assertTrue(provider.seen.isEmpty(), provider.seen::toString);
    }

    @Test
    void whoWasNeverPublishedAndWhoIsNoWorkerMayNot() throws Exception {
        TestDaemon.Worker worker = staged();
        assertEquals(
                FailureKind.CONFLICT,
                assertThrows(RelayException.class, () -> leave(worker)).kind());
        RelayException stranger =
                assertThrows(RelayException.class, () -> mcp.session.request(new SessionPayload.Leave()));
        assertEquals(FailureKind.UNAUTHORIZED, stranger.kind());
        worker.ready();
        assertEquals("worker", post().body());
    }

    private String shown() {
        return daemon.server.run(Map.of()).toString();
    }
}
