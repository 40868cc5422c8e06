package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/** Many streams of two users at once, each with a worker: every client gets its own bytes, all of them, in order. */
@Timeout(120)
class TwoRoutesTest {
    private static final int STREAMS = 128;
    private static final int EVENTS = 20;

    @TempDir
    Path folder;

    private static String text(String id) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < EVENTS; i++) {
            text.append("data: ").append(id).append('-').append(i).append("\n\n");
        }
        return text.toString();
    }

    @Test
    void case112StreamsDoNotMix() throws Exception {
        Set<String> seen = ConcurrentHashMap.newKeySet();
        CountDownLatch together = new CountDownLatch(STREAMS);
        User other = User.self(folder.resolve("other"));
        try (OneUser bench = new OneUser(folder);
                Clients clients = new Clients();
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                Relay relay = bench.daemon();
                McpSession first = McpSession.initialized(bench.user, bench.executable, relay);
                McpSession second = McpSession.initialized(other, bench.executable, relay)) {
            bench.provider.respond("/v1/messages", (request, reply) -> {
                String id = request.bodyText();
                assertEquals(id, request.header("x-request-id").getFirst());
                seen.add(id);
                reply.head(200, "x-request-id: " + id, "transfer-encoding: chunked");
                // All are open before any goes on.
                together.countDown();
                together.await(30, TimeUnit.SECONDS);
                byte[] all = text(id).getBytes(StandardCharsets.UTF_8);
                for (int at = 0; at < all.length; ) {
                    int length = Math.min(
                            all.length - at, 1 + ThreadLocalRandom.current().nextInt(40));
                    reply.chunk(Arrays.copyOfRange(all, at, at + length));
                    at += length;
                    Thread.yield();
                }
                reply.end("x-request-id: " + id);
            });
            Await.until(
                    "both workers are ready",
                    Duration.ofSeconds(30),
                    () -> relay.workers().stream()
                                    .filter(worker -> worker.string("state").equals("ready"))
                                    .count()
                            == 2);
            List<Future<Void>> streams = new ArrayList<>();
            for (int i = 0; i < STREAMS; i++) {
                String id = "stream-" + i;
                User user = i % 2 == 0 ? bench.user : other;
                Version version = i % 4 < 2 ? Version.HTTP_1_1 : Version.H2C;
                streams.add(threads.submit(() -> {
                    try (Call call =
                            clients.post(version, relay.port(), "/v1/messages", user.header(), "x-request-id: " + id)) {
                        call.data(id.getBytes(StandardCharsets.UTF_8)).end();
                        assertEquals(List.of(id), call.head().header("x-request-id"));
                        assertEquals(text(id), new String(call.rest(), StandardCharsets.UTF_8));
                        assertEquals(List.of("x-request-id: " + id), call.trailers());
                    }
                    return null;
                }));
            }
            for (Future<Void> stream : streams) {
                stream.get(60, TimeUnit.SECONDS);
            }
            assertEquals(STREAMS, seen.size());
            assertEquals(STREAMS, bench.provider.received("/v1/messages").size());
            assertEquals(0, first.end());
            assertEquals(0, second.end());
        }
    }
}
