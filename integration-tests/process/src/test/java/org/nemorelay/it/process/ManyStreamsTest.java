package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;

/** Many more slow streams at once through one worker than one HTTP/2 connection is commonly allowed. */
@Timeout(120)
class ManyStreamsTest {
    private static final int STREAMS = 1_000;
    /** Requests before the measurement, so that the heap is not new and the code is compiled. */
    private static final int WARM_UP = 3_000;
    /** Twice of what a stream is meant to cost: the rest is the heap's own growth, which no one run can tell apart. */
    private static final int MOST_KIB = 64;

    @TempDir
    Path folder;

    @Test
    void allAreOpenAtTheSameTimeAndEachCostsLittle() {
        CountDownLatch release = new CountDownLatch(1);
        List<RawHttp> clients = new ArrayList<>();
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            warmUp(bench, relay);
            bench.provider.respond("/v1/messages", (request, reply) -> {
                reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                reply.chunk("event: one\n\n");
                release.await();
                reply.chunk("event: two\n\n").end();
            });
            long daemon = relay.process().pid();
            long worker = bench.workers().getFirst().pid();
            long daemonBefore = ProcessTable.residentKib(daemon);
            long workerBefore = ProcessTable.residentKib(worker);
            for (int i = 0; i < STREAMS; i++) {
                RawHttp client = new RawHttp(relay.port());
                clients.add(client);
                client.send("POST", "/v1/messages", "{\"stream\":true}", bench.user.header());
            }
            for (RawHttp client : clients) {
                assertEquals(200, client.head().status());
                assertEquals("event: one\n\n", new String(client.chunk(), StandardCharsets.UTF_8));
            }
            assertEquals(STREAMS, relay.workers().getFirst().integer("in_flight", 0, 2L * STREAMS));
            long perDaemon = (ProcessTable.residentKib(daemon) - daemonBefore) / STREAMS;
            long perWorker = (ProcessTable.residentKib(worker) - workerBefore) / STREAMS;
            System.out.printf(
                    "nemo-relay %d slow streams: %d KiB each in the daemon, which had %d MiB before,"
                            + " and %d KiB each in the worker, which had %d MiB%n",
                    STREAMS, perDaemon, daemonBefore / 1024, perWorker, workerBefore / 1024);
            release.countDown();
            for (RawHttp client : clients) {
                assertEquals("event: two\n\n", new String(client.chunk(), StandardCharsets.UTF_8));
                assertEquals(0, client.chunk().length);
            }
            Await.until(
                    "nothing is in flight",
                    Duration.ofSeconds(5),
                    () -> relay.workers().getFirst().integer("in_flight", 0, STREAMS) == 0);
            assertEquals(0, mcp.end());
            assertTrue(
                    perDaemon <= MOST_KIB && perWorker <= MOST_KIB,
                    perDaemon + " and " + perWorker + " KiB for each stream");
        } finally {
            release.countDown();
            clients.forEach(RawHttp::close);
        }
    }

    private static void warmUp(OneUser bench, Relay relay) {
        bench.provider.respond("/v1/messages", (request, reply) -> reply.sized(200, "application/json", "{}"));
        try (RawHttp client = new RawHttp(relay.port())) {
            for (int i = 0; i < WARM_UP; i++) {
                assertEquals(
                        200,
                        client.send("POST", "/v1/messages", "{}", bench.user.header())
                                .answer()
                                .status());
            }
        }
    }
}
