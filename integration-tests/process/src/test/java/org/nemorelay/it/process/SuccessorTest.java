package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Relay;
import org.nemorelay.plugin.api.HookPolicy;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;

/** A worker is replaced when it has exited, its plugins' last work included: never are there two of one user. */
@Timeout(120)
@Execution(ExecutionMode.CONCURRENT)
class SuccessorTest {
    @TempDir
    Path folder;

    @Test
    void waitsForTheExitOfAWorkerWhosePluginTakesItsTime() {
        try (OneUser bench = new OneUser(folder, "[[components]]\nkind = \"leisurely\"\n")) {
            leisurely(bench);
            try (Relay relay = bench.daemon();
                    McpSession first = McpSession.initialized(bench.user, bench.executable, relay);
                    McpSession second = McpSession.start(bench.user, bench.executable, relay)) {
                String old = relay.awaitReadyWorker(first);
                long process = bench.workers().getFirst().pid();
                second.initialize();
                assertEquals(0, first.end());
                assertEquals(0, second.end());
                try (McpSession next = McpSession.initialized(bench.user, bench.executable, relay)) {
                    awaitSuccessor(bench, relay, old);
                    assertNotEquals(process, bench.workers().getFirst().pid());
                    assertEquals(0, next.end());
                    bench.awaitNoWorkerProcess();
                }
            }
        }
    }

    /** The daemon is killed in the middle of a drain: its successor knows of it, and waits for the plugins too. */
    @Test
    void aDaemonThatIsStartedAgainWaitsForAWorkerThatWasDraining() throws Exception {
        try (OneUser bench = new OneUser(folder, "[[components]]\nkind = \"leisurely\"\n", "/worker");
                Clients clients = new Clients()) {
            leisurely(bench);
            bench.provider.respond("/worker/v1/messages", (request, reply) -> {
                reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                while (true) {
                    reply.chunk("data: on\n\n".getBytes(StandardCharsets.UTF_8));
                    Thread.sleep(100);
                }
            });
            int port;
            String old;
            try (Relay relay = bench.daemon()) {
                port = relay.port();
                try (McpSession first = McpSession.initialized(bench.user, bench.executable, relay);
                        Call call = clients.post(Version.HTTP_1_1, port, "/v1/messages", bench.user.header())) {
                    old = relay.awaitReadyWorker(first);
                    call.data("{}".getBytes(StandardCharsets.UTF_8)).end();
                    call.read();
                    assertEquals(0, first.end());
                    Await.until(
                            "the worker drains",
                            Duration.ofSeconds(10),
                            () -> relay.process().stderr().contains("event=worker_drain_started"));
                    relay.process().signal("KILL");
                    relay.process().awaitExit(Duration.ofSeconds(10));
                }
            }
            try (Relay next = Relay.start(port, bench.user, bench.executable, Relay.upstream(bench.provider));
                    McpSession session = McpSession.initialized(bench.user, bench.executable, next)) {
                awaitSuccessor(bench, next, old);
                String log = next.process().stderr();
                assertTrue(
                        log.contains("event=worker_removed")
                                && log.indexOf("event=worker_removed") < log.indexOf("event=worker_staged"),
                        next.process()::transcript);
                assertEquals(0, session.end());
                bench.awaitNoWorkerProcess();
            }
        }
    }

    /** Nobody could tell it of its drain: until its end was looked for, it kept its route for two minutes. */
    @Test
    void aWorkerThatDiedBeforeItsDrainIsReplacedInSeconds() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession first = McpSession.initialized(bench.user, bench.executable, relay)) {
            String old = relay.awaitReadyWorker(first);
            bench.workers()
                    .forEach(process -> ProcessHandle.of(process.pid()).ifPresent(ProcessHandle::destroyForcibly));
            bench.awaitNoWorkerProcess();
            assertEquals(0, first.end());
            long start = System.nanoTime();
            try (McpSession next = McpSession.initialized(bench.user, bench.executable, relay)) {
                awaitSuccessor(bench, relay, old);
                Duration took = Duration.ofNanos(System.nanoTime() - start);
                assertTrue(took.compareTo(Duration.ofSeconds(50)) < 0, took::toString);
                assertEquals(0, next.end());
            }
            bench.awaitNoWorkerProcess();
        }
    }

    private static void leisurely(OneUser bench) {
        new PluginJar("leisurely", Leisurely.class, HookPolicy.class)
                .header("Import-Package", "org.nemorelay.plugin.api,org.osgi.framework")
                .header("Bundle-Activator", Leisurely.class.getName())
                .deploy(bench.executable.resolve("../../etc/plugins").normalize());
    }

    private static void awaitSuccessor(OneUser bench, Relay relay, String old) {
        Await.until(() -> "the next worker\n" + relay.process().transcript(), Duration.ofSeconds(60), () -> {
            assertTrue(bench.workers().size() <= 1, () -> "two at once: " + bench.workers());
            return relay.workers().stream()
                    .anyMatch(worker -> !worker.string("worker_id").equals(old)
                            && worker.string("state").equals("ready"));
        });
    }

    /** Writes its last records for six seconds. */
    public static final class Leisurely extends Allowing implements BundleActivator {
        /** As a component. */
        public Leisurely(Map<String, Object> properties) {}

        /** As the bundle's activator. */
        public Leisurely() {}

        @Override
        public void start(BundleContext context) {}

        @Override
        public void stop(BundleContext context) throws InterruptedException {
            Thread.sleep(6_000);
        }
    }
}
