package org.nemorelay.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.RequestIntercept;

/**
 * What requests feel of a plugin that is installed, configured anew, updated and removed under 200 requests a second: how
 * many are lost, and the 99th percentile beside that of undisturbed windows before and after.
 */
public final class DeployBench {
    private static final int RATE = 200;
    private static final Duration WINDOW = Duration.ofSeconds(16);
    private static final String COMPONENT =
            "[[components]]\nkind = \"bench_header\"\n[components.config]\nvalue = \"%s\"\n";

    private DeployBench() {}

    public static void main(String[] arguments) throws Exception {
        Path folder = Files.createTempDirectory("nemo-relay-deploy-bench");
        try (LeanProvider provider = new LeanProvider()) {
            String toml = "[upstream]\nanthropic_base_url = \"" + provider.origin() + "\"\n";
            Path tree = Distribution.privateTree(folder.resolve("tree"), toml, "version = 1\n");
            Path executable = tree.resolve("bin/nemo-relay");
            User user = User.self(folder.resolve("home"));
            try (Relay relay = Relay.start(user, executable, Proc.spec());
                    McpSession session = McpSession.initialized(user, executable, relay)) {
                relay.awaitReadyWorker(session);
                // Warmed up, deployment included.
                window(relay, user, WINDOW, () -> changes(tree));
                Window before = window(relay, user, WINDOW, () -> {});
                Window during = window(relay, user, WINDOW, () -> changes(tree));
                Window after = window(relay, user, WINDOW, () -> {});
                double undisturbed = Math.max(before.p99(), after.p99());
                System.out.printf(
                        "%d requests at %d/s while a plugin is installed, configured, updated and removed: %d lost%n",
                        during.sent(), RATE, during.lost());
                System.out.printf(
                        "p99 %.2f ms, undisturbed %.2f and %.2f ms: ratio %.2f%n",
                        during.p99(), before.p99(), after.p99(), during.p99() / undisturbed);
                session.end();
            }
        } finally {
            new ProcessBuilder("rm", "-rf", folder.toString()).start().waitFor();
        }
    }

    private record Window(int sent, int lost, double p99) {}

    private interface Disturbance {
        void run() throws Exception;
    }

    /** Open loop: a request leaves when its time has come, whatever became of those before. */
    private static Window window(Relay relay, User user, Duration length, Disturbance disturbance) throws Exception {
        ConcurrentLinkedQueue<Double> millis = new ConcurrentLinkedQueue<>();
        AtomicInteger lost = new AtomicInteger();
        CompletableFuture<Void> disturbed = CompletableFuture.runAsync(() -> {
            try {
                disturbance.run();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        });
        List<Thread> requests = new ArrayList<>();
        int count = (int) (length.toSeconds() * RATE);
        long begin = System.nanoTime();
        for (int i = 0; i < count; i++) {
            long due = begin + i * 1_000_000_000L / RATE;
            while (System.nanoTime() < due) {
                LockSupport.parkNanos(due - System.nanoTime());
            }
            requests.add(Thread.ofVirtual().start(() -> {
                try {
                    int status = RawHttp.post(relay.port(), "/v1/messages", "{\"model\":\"m\"}", user.header())
                            .status();
                    if (status != 200) {
                        lost.incrementAndGet();
                    }
                } catch (RuntimeException e) {
                    lost.incrementAndGet();
                }
                millis.add((System.nanoTime() - due) / 1e6);
            }));
        }
        for (Thread request : requests) {
            request.join();
        }
        disturbed.join();
        double[] sorted =
                millis.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return new Window(count, lost.get(), sorted[(int) (sorted.length * 0.99)]);
    }

    /** Four changes, each seen by the worker before the next. */
    private static void changes(Path tree) throws Exception {
        Path etc = tree.resolve("etc");
        Path toml = etc.resolve("plugins.toml");
        PluginJar jar = new PluginJar("bench_header", Header.class, RequestIntercept.class);
        jar.deploy(etc.resolve("plugins"));
        Files.writeString(toml, "version = 1\n" + COMPONENT.formatted("one"));
        Thread.sleep(3_500);
        Files.writeString(toml, "version = 1\n" + COMPONENT.formatted("two"));
        Thread.sleep(3_500);
        jar.header("Bundle-Version", "2.0.0").deploy(etc.resolve("plugins"));
        Thread.sleep(3_500);
        Files.writeString(toml, "version = 1\n");
        Thread.sleep(3_500);
        Files.delete(etc.resolve("plugins/bench_header.jar"));
    }

    /** Sets one header. */
    public static final class Header implements RequestIntercept {
        private final String value;

        public Header(Map<String, Object> properties) {
            value = PluginConfig.of(properties).string("value");
        }

        @Override
        public CompletionStage<ModelRequest> rewrite(ModelRequest request) {
            return CompletableFuture.completedStage(request.withHeader("x-bench", value));
        }
    }
}
