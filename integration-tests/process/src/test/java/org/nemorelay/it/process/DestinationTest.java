package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Relay;
import org.nemorelay.it.Reply;

/** Where a request goes is decided when it begins, and holds to its end. */
@Timeout(120)
class DestinationTest {
    private static final String ID = "x-request-id";

    @TempDir
    Path folder;

    private final Map<String, List<String>> submitted = new ConcurrentHashMap<>();

    @Test
    void aStreamEndsWhereItBeganAndTheNextRequestTakesWhatIsThereThen() throws Exception {
        CountDownLatch workerCame = new CountDownLatch(1);
        CountDownLatch workerLeft = new CountDownLatch(1);
        try (OneUser bench = new OneUser(folder, "", Route.WORKER.at(""));
                Clients clients = new Clients();
                Relay relay = bench.daemon()) {
            script(bench.provider, Route.PASS_THROUGH, workerCame);
            script(bench.provider, Route.WORKER, workerLeft);
            try (Call first = begin(clients, bench, relay, "first")) {
                assertEquals("one", first.read(3));
                try (McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
                    relay.awaitReadyWorker(mcp);
                    try (Call second = begin(clients, bench, relay, "second")) {
                        assertEquals("one", second.read(3));
                        workerCame.countDown();
                        assertEquals("two", first.read(3));
                        assertEquals(0, first.read().length);
                        // The session ends, and with it the worker, which lets its stream finish.
                        assertEquals(0, mcp.end());
                        Await.until("the next request passes through", Duration.ofSeconds(10), () -> {
                            String id = "third-" + System.nanoTime();
                            try (Call third = begin(clients, bench, relay, id)) {
                                third.rest();
                            }
                            return submitted.get(id).equals(List.of("PASS_THROUGH"));
                        });
                        workerLeft.countDown();
                        assertEquals("two", second.read(3));
                        assertEquals(0, second.read().length);
                    }
                }
            }
            assertEquals(List.of("PASS_THROUGH"), submitted.get("first"));
            assertEquals(List.of("WORKER"), submitted.get("second"));
            submitted.forEach((id, routes) -> assertEquals(1, routes.size(), id));
            bench.awaitNoWorkerProcess();
        } finally {
            workerCame.countDown();
            workerLeft.countDown();
        }
    }

    private void script(MockProvider provider, Route route, CountDownLatch release) {
        provider.script(route.at("/v1/messages"), (head, connection) -> {
            submitted
                    .computeIfAbsent(head.header(ID).getFirst(), id -> new ArrayList<>())
                    .add(route.name());
            connection.body(head, new ArrayList<>());
            Reply reply = connection.reply().head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
            reply.chunk("one");
            release.await();
            reply.chunk("two").end();
        });
    }

    private static Call begin(Clients clients, OneUser bench, Relay relay, String id) throws Exception {
        Call call = clients.post(Version.HTTP_1_1, relay.port(), "/v1/messages", bench.user.header(), ID + ": " + id);
        call.data(new byte[] {'{', '}'}).end();
        assertEquals(200, call.head().status());
        return call;
    }
}
