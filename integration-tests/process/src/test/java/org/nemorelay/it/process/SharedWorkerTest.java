package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Relay;

/** Who shares a worker, and when none is started. */
class SharedWorkerTest {
    @TempDir
    Path folder;

    @Test
    void twoSessionsOfOneUserShareOneWorkerUntilTheLastLeaves() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession first = McpSession.initialized(bench.user, bench.executable, relay)) {
            String worker = relay.awaitReadyWorker(first);
            try (McpSession second = McpSession.initialized(bench.user, bench.executable, relay)) {
                Await.until(
                        "the worker counts both sessions",
                        Duration.ofSeconds(5),
                        () -> relay.workers().getFirst().integer("reference_count", 0, 10) == 2);
                assertEquals(1, relay.workers().size());
                assertEquals(1, bench.workers().size());
                assertEquals(0, first.end());
                Await.until(
                        "one session is left",
                        Duration.ofSeconds(5),
                        () -> relay.workers().getFirst().integer("reference_count", 0, 10) == 1);
                assertEquals(worker, relay.workers().getFirst().string("worker_id"));
                assertEquals("ready", relay.workers().getFirst().string("state"));
                assertEquals(0, second.end());
            }
            relay.awaitNoWorker(Duration.ofSeconds(10));
            bench.awaitNoWorkerProcess();
        }
    }

    @Test
    void noWorkerStartsInPassThroughAndWithoutACredential() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon("--pass-through");
                McpSession routed = McpSession.initialized(bench.user, bench.executable, relay);
                McpSession anonymous = McpSession.start(bench.user.spec(
                        bench.executable.toString(), "daemon", "mcp", "--daemon-address", relay.address()))) {
            anonymous.initialize();
            routed.send("{\"jsonrpc\":\"2.0\",\"id\":\"p\",\"method\":\"ping\"}");
            assertEquals("p", routed.answer().string("id"));
            assertEquals(0, bench.workers().size());
            assertTrue(relay.workers().isEmpty());
        }
    }
}
