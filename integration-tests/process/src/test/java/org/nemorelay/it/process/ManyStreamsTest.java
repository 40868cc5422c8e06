package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;

/** More slow streams at once through one worker than one HTTP/2 connection is commonly allowed. */
class ManyStreamsTest {
    private static final int STREAMS = 400;

    @TempDir
    Path folder;

    @Test
    void allAreOpenAtTheSameTime() {
        CountDownLatch release = new CountDownLatch(1);
        List<RawHttp> clients = new ArrayList<>();
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            bench.provider.respond("/v1/messages", (request, reply) -> {
                reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                reply.chunk("event: one\n\n");
                release.await();
                reply.chunk("event: two\n\n").end();
            });
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
        } finally {
            release.countDown();
            clients.forEach(RawHttp::close);
        }
    }
}
