package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Relay;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.ToolCall;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;

/** A worker is replaced when it has exited, its plugins' last work included: never are there two of one user. */
@Timeout(120)
class SuccessorTest {
    @TempDir
    Path folder;

    @Test
    void waitsForTheExitOfAWorkerWhosePluginTakesItsTime() {
        try (OneUser bench = new OneUser(folder, "[[components]]\nkind = \"leisurely\"\n")) {
            new PluginJar("leisurely", Leisurely.class, HookPolicy.class)
                    .header("Import-Package", "org.nemorelay.plugin.api,org.osgi.framework")
                    .header("Bundle-Activator", Leisurely.class.getName())
                    .deploy(bench.executable.resolve("../../etc/plugins").normalize());
            try (Relay relay = bench.daemon();
                    McpSession first = McpSession.initialized(bench.user, bench.executable, relay);
                    McpSession second = McpSession.start(bench.user, bench.executable, relay)) {
                String old = relay.awaitReadyWorker(first);
                long process = bench.workers().getFirst().pid();
                second.initialize();
                assertEquals(0, first.end());
                assertEquals(0, second.end());
                try (McpSession next = McpSession.initialized(bench.user, bench.executable, relay)) {
                    Await.until(
                            () -> "the next worker\n" + relay.process().transcript(), Duration.ofSeconds(60), () -> {
                                assertTrue(bench.workers().size() <= 1, () -> "two at once: " + bench.workers());
                                return relay.workers().stream()
                                        .anyMatch(worker -> !worker.string("worker_id")
                                                        .equals(old)
                                                && worker.string("state").equals("ready"));
                            });
                    assertNotEquals(process, bench.workers().getFirst().pid());
                    assertEquals(0, next.end());
                    bench.awaitNoWorkerProcess();
                }
            }
        }
    }

    /** Writes its last records for three seconds. */
    public static final class Leisurely implements HookPolicy, BundleActivator {
        /** As a component. */
        public Leisurely(Map<String, Object> properties) {}

        /** As the bundle's activator. */
        public Leisurely() {}

        @Override
        public void start(BundleContext context) {}

        @Override
        public void stop(BundleContext context) throws InterruptedException {
            Thread.sleep(3_000);
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedFuture(Decision.allow());
        }
    }
}
