package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.Directive;

/** A daemon that stops tells its owner what still runs, on either route, and until when. */
class StoppingStatusTest {
    private static final String CALL = "/v1/messages";

    @Test
    void requestsThatStillRunAreCounted() throws Exception {
        try (TestDaemon daemon = new TestDaemon();
                FakeServer provider = new FakeServer("provider");
                FakeServer data = new FakeServer("worker")) {
            daemon.with("anthropic_base_url", provider.url()).start();
            TestDaemon.User ann = daemon.user("ann");
            daemon.new Worker(ann, data)
                    .register(ann.mcp().await(Directive.LaunchWorker.class).grant())
                    .ready();
            assertEquals(Map.of(), daemon.server.run(Map.of()).getOrDefault("stopping", Map.of()));
            CountDownLatch finish = new CountDownLatch(1);
            for (FakeServer server : new FakeServer[] {provider, data}) {
                server.answer = exchange -> {
                    exchange.sendResponseHeaders(200, 0);
                    exchange.getResponseBody().write("begun".getBytes(StandardCharsets.US_ASCII));
                    exchange.getResponseBody().flush();
                    await(finish);
                    exchange.close();
                };
            }
            Thread stop;
            try (RawHttp served = begun(daemon, ann.header())) {
                try (RawHttp _ = begun(daemon)) {
                    stop = Thread.ofVirtual().start(daemon.server::stop);
                    TestDaemon.await(
                            "it stops", () -> daemon.server.run(Map.of()).containsKey("stopping"));
                    Map<?, ?> stopping = stopping(daemon);
                    assertEquals(ProcessHandle.current().pid(), stopping.get("pid"));
                    assertEquals(2, stopping.get("requests"));
                    long left = (Long) stopping.get("seconds_left");
                    assertTrue(left > 60 && left <= 120, () -> "seconds left: " + left);
                }
                TestDaemon.await(
                        "one is over", () -> stopping(daemon).get("requests").equals(1));
                finish.countDown();
                assertEquals("", served.chunk());
            }
            stop.join();
        }
    }

    private static RawHttp begun(TestDaemon daemon, String... headers) throws IOException {
        RawHttp stream = new RawHttp(daemon.port());
        stream.send(RawHttp.post(CALL, "{}", headers));
        assertEquals(200, stream.head().status());
        assertEquals("begun", stream.chunk());
        return stream;
    }

    private static Map<?, ?> stopping(TestDaemon daemon) {
        return (Map<?, ?>) daemon.server.run(Map.of()).get("stopping");
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
