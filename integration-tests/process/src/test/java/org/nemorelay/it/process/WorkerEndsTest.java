package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Relay;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.PluginConfig;
import org.osgi.framework.BundleActivator;
import org.osgi.framework.BundleContext;

/** Whatever plugins do at their start and at their end, a worker's process ends, and plugins that behave come to their end. */
@Tag("long")
@Timeout(240)
@Execution(ExecutionMode.CONCURRENT)
class WorkerEndsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"session ends", "SIGTERM"})
    void inBoundedTime(String what) throws Exception {
        Path ended = folder.resolve("ended");
        String components = component("clings", ended) + component("hangs", ended) + component("tells", ended);
        try (OneUser bench = new OneUser(folder, components)) {
            Path plugins = bench.executable.resolve("../../etc/plugins").normalize();
            activated("clings", Clinging.class).deploy(plugins);
            activated("hangs", Hanging.class).deploy(plugins);
            activated("tells", Telling.class).deploy(plugins);
            try (Relay relay = bench.daemon();
                    McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
                relay.awaitReadyWorker(mcp);
                long worker = bench.workers().getFirst().pid();
                if (what.equals("SIGTERM")) {
                    new ProcessBuilder("kill", "-TERM", "" + worker).start().waitFor();
                } else {
                    assertEquals(0, mcp.end());
                }
                Await.until(
                        () -> "the worker's process has ended\n" + mcp.process().transcript(),
                        LIMIT,
                        () -> ProcessHandle.of(worker).isEmpty());
                assertTrue(Files.exists(ended), "what behaves came to its end");
                String log = mcp.process().transcript();
                assertTrue(log.contains("clings.jar did not come to an end within 15 s"), log);
            }
        }
    }

    private static PluginJar activated(String kind, Class<?> type) {
        return new PluginJar(kind, type, HookPolicy.class)
                .header("Import-Package", "org.nemorelay.plugin.api,org.osgi.framework")
                .header("Bundle-Activator", type.getName());
    }

    private static String component(String kind, Path file) {
        return "[[components]]\nkind = \"" + kind + "\"\nrequired = false\n[components.config]\nfile = \"" + file
                + "\"\n";
    }

    /** Holds on to everything that it can, and heeds nothing. */
    public static final class Clinging extends Allowing implements BundleActivator {
        public Clinging() {}

        public Clinging(Map<String, Object> properties) {}

        @Override
        public void start(BundleContext context) {
            Runtime.getRuntime().addShutdownHook(new Thread(Clinging::cling));
            new Thread(Clinging::cling, "clings").start();
        }

        @Override
        public void stop(BundleContext context) {
            cling();
        }

        private static void cling() {
            while (true) {
                LockSupport.parkNanos(1_000_000_000);
                Thread.interrupted();
            }
        }
    }

    /** Never starts, and heeds nothing. */
    public static final class Hanging extends Allowing implements BundleActivator {
        public Hanging() {}

        public Hanging(Map<String, Object> properties) {}

        @Override
        public void start(BundleContext context) {
            while (true) {
                LockSupport.parkNanos(1_000_000_000);
                Thread.interrupted();
            }
        }

        @Override
        public void stop(BundleContext context) {}
    }

    /** Ends with a file. */
    public static final class Telling extends Allowing implements BundleActivator {
        private static volatile Path file;

        public Telling() {}

        public Telling(Map<String, Object> properties) {
            file = Path.of(PluginConfig.of(properties).string("file"));
        }

        @Override
        public void start(BundleContext context) {}

        @Override
        public void stop(BundleContext context) throws IOException {
            Files.createFile(file);
        }
    }
}
