package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;

/**
 * A request that does not end keeps a worker for two minutes at most: after the last release, and when only the control
 * connection is cut. In {@code ./test} the two minutes are cut short by {@code NEMO_RELAY_TEST_TIME_SCALE}.
 */
@Timeout(240)
@Execution(ExecutionMode.CONCURRENT)
class LongDrainTest {
    private static final long DRAIN_MS = 120_000;
    private static final long RECOVERY_MS = 30_000;
    private static final int SCALE = 30;

    @TempDir
    Path folder;

    @Test
    void releaseGivesTheRequestItsTimeThenCutsIt() throws Exception {
        release(SCALE);
    }

    @Test
    @Tag("long")
    void releaseGivesTheRequestTwoMinutesThenCutsIt() throws Exception {
        release(1);
    }

    @Test
    void case108AWorkerWithoutControlFinishesWhatItHasAndDrainsByItself() throws Exception {
        cutControl(SCALE);
    }

    @Test
    @Tag("long")
    void aWorkerWithoutControlDrainsByItselfForTwoMinutes() throws Exception {
        cutControl(1);
    }

    private static Proc.Spec scaled(MockProvider provider, int scale) {
        return Relay.upstream(provider).env("NEMO_RELAY_TEST_TIME_SCALE", Integer.toString(scale));
    }

    private static McpSession session(OneUser bench, String address, int scale) {
        McpSession session = McpSession.start(bench.user
                .withToken(bench.executable.toString(), "daemon", "mcp", "--daemon-address")
                .command(address)
                .env("NEMO_RELAY_LOG", "info")
                .env("NEMO_RELAY_TEST_TIME_SCALE", Integer.toString(scale)));
        session.initialize();
        return session;
    }

    /** An answer that goes on for ever; the time of its last event is kept. */
    private static void endless(MockProvider provider) {
        provider.respond("/v1/messages", (request, reply) -> {
            reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
            while (true) {
                reply.chunk("data: on\n\n".getBytes(StandardCharsets.UTF_8));
                Thread.sleep(100);
            }
        });
    }

    /** Reads until the answer is broken off, and tells the milliseconds since {@code start}. */
    private static long untilCut(Call call, long start, AtomicLong last) {
        assertThrows(IOException.class, () -> {
            while (call.read().length > 0) {
                last.set(System.nanoTime());
            }
        });
        return millisSince(start);
    }

    private static long millisSince(long start) {
        return (System.nanoTime() - start) / 1_000_000;
    }

    private void release(int scale) throws Exception {
        try (OneUser bench = new OneUser(folder);
                Clients clients = new Clients();
                Relay relay = Relay.start(bench.user, bench.executable, scaled(bench.provider, scale))) {
            endless(bench.provider);
            McpSession session = session(bench, relay.address(), scale);
            relay.awaitReadyWorker(session);
            try (Call call = clients.post(Version.HTTP_1_1, relay.port(), "/v1/messages", bench.user.header())) {
                call.data("{}".getBytes(StandardCharsets.UTF_8)).end();
                assertEquals(200, call.head().status());
                call.read();
                assertEquals(1, bench.workers().size());
                long start = System.nanoTime();
                assertEquals(0, session.end());
                AtomicLong last = new AtomicLong();
                long cut = untilCut(call, start, last);
                long limit = DRAIN_MS / scale;
                assertTrue(cut >= limit - 500, "the request had " + cut + " of " + limit + " ms");
                assertTrue(cut <= limit + 5_000, "the request had " + cut + " of " + limit + " ms");
            }
            bench.awaitNoWorkerProcess();
            relay.awaitNoWorker(Duration.ofSeconds(10));
            assertEquals(1, bench.provider.received("/v1/messages").size());
        }
    }

    private void cutControl(int scale) throws Exception {
        try (OneUser bench = new OneUser(folder, "", "/worker");
                Clients clients = new Clients();
                Relay relay = Relay.start(bench.user, bench.executable, scaled(bench.provider, scale));
                ControlCut road = new ControlCut(relay.port())) {
            endless(bench.provider);
            bench.provider.respond("/worker/v1/messages", (request, reply) -> {
                reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                while (true) {
                    reply.chunk("data: on\n\n".getBytes(StandardCharsets.UTF_8));
                    Thread.sleep(100);
                }
            });
            McpSession session = session(bench, road.address(), scale);
            relay.awaitReadyWorker(session);
            try (Call call = clients.post(Version.HTTP_1_1, relay.port(), "/v1/messages", bench.user.header())) {
                call.data("{}".getBytes(StandardCharsets.UTF_8)).end();
                assertEquals(200, call.head().status());
                call.read();
                long start = System.nanoTime();
                road.cutWorkers();
                Await.until(
                        "the daemon knows that control is lost",
                        Duration.ofSeconds(5),
                        () -> relay.workers().stream().noneMatch(worker -> worker.bool("control_available")));
                try (Call passing = clients.post(Version.HTTP_1_1, relay.port(), "/v1/messages", bench.user.header())) {
                    passing.data("{}".getBytes(StandardCharsets.UTF_8)).end();
                    assertEquals(200, passing.head().status());
                }
                assertEquals(1, bench.provider.received("/v1/messages").size(), "what is new passes by the worker");
                AtomicLong last = new AtomicLong(System.nanoTime());
                long cut = untilCut(call, start, last);
                long limit = RECOVERY_MS + DRAIN_MS / scale;
                assertTrue(cut >= limit - 3_000, "the request had " + cut + " of " + limit + " ms");
                assertTrue(cut <= limit + 5_000, "the request had " + cut + " of " + limit + " ms");
                assertEquals(1, bench.provider.received("/worker/v1/messages").size());
            }
            assertEquals(200, RawHttp.get(relay.port(), "/healthz").status());
            road.mend();
            assertEquals(0, session.end());
            bench.awaitNoWorkerProcess();
        }
    }
}
