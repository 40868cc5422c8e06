package org.nemorelay.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.IntToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.RequestGuardrail;
import org.nemorelay.plugin.api.RequestIntercept;

/**
 * What requests feel of a plugin that is installed, configured anew, updated and removed under 200 requests a second: how
 * many are lost, and the 99th percentile beside that of undisturbed windows before and after, in turns. Then what is left in the
 * worker of a plugin that came and went fifty times.
 */
final class DeployBench {
    private static final int RATE = 200;
    private static final int ROUNDS = 50;
    private static final int WARM_UP = 2;
    private static final int DISTURBED = 2;
    private static final Duration WINDOW = Duration.ofSeconds(16);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String NOTHING = "version = 1\ncomponents = []\n";
    private static final String COMPONENT =
            "[[components]]\nkind = \"bench_header\"\n[components.config]\nvalue = \"%s\"\n";
    private static final String GATE = "version = 1\n[[components]]\nkind = \"bench_gate\"\n";
    private static final String LOADER = "BundleWiringImpl$BundleClassLoader";

    private DeployBench() {}

    /** Lines of the report's table. */
    static String run(Path folder, LeanProvider provider, Targets targets) throws Exception {
        String toml = "[upstream]\nanthropic_base_url = \"" + provider.origin() + "\"\n";
        Path tree = Distribution.privateTree(folder.resolve("tree-deploy"), toml, NOTHING);
        Path executable = tree.resolve("bin/nemo-relay");
        User user = User.self(folder.resolve("home-deploy"));
        try (Relay relay = Relay.start(user, executable, Proc.spec());
                McpSession session = McpSession.initialized(user, executable, relay)) {
            relay.awaitReadyWorker(session);
            // Warmed up, deployment included, until the compiler has done most of its work on it.
            for (int i = 0; i < WARM_UP; i++) {
                window(relay, user, WINDOW, () -> changes(tree));
            }
            List<Window> undisturbed = new ArrayList<>(List.of(window(relay, user, WINDOW, () -> {})));
            List<Window> disturbed = new ArrayList<>();
            for (int i = 0; i < DISTURBED; i++) {
                disturbed.add(window(relay, user, WINDOW, () -> changes(tree)));
                undisturbed.add(window(relay, user, WINDOW, () -> {}));
            }
            long worker = StartBench.worker(relay);
            comeAndGo(tree, relay, user);
            long first = loaders(worker);
            for (int round = 0; round < ROUNDS; round++) {
                comeAndGo(tree, relay, user);
            }
            long left = loaders(worker) - first;
            session.end();
            int lost = disturbed.stream().mapToInt(Window::lost).sum();
            IntToDoubleFunction times = i -> disturbed.get(i).p99()
                    / ((undisturbed.get(i).p99() + undisturbed.get(i + 1).p99()) / 2);
            return String.format(
                    Locale.ROOT,
                    """
                    | %,d requests at %d/s while a plugin is installed, configured, updated, removed | %d lost | %s |
                    | their p99 in each of %d windows, times the mean of the undisturbed ones before and after | %s | %s |
                    | the same by chance: an undisturbed window, times the one before | %s | |
                    | p99 of the undisturbed windows | %s ms | |
                    | class loaders left by %d rounds of installing and removing | %d | %s |
                    """,
                    disturbed.stream().mapToInt(Window::sent).sum(),
                    RATE,
                    lost,
                    targets.atMost("requests lost while plugins come and go", lost, 0),
                    DISTURBED,
                    list(DISTURBED, times),
                    targets.atMost(
                            "p99 while plugins come and go, times that of undisturbed windows, at most",
                            IntStream.range(0, DISTURBED)
                                    .mapToDouble(times)
                                    .max()
                                    .orElseThrow(),
                            2),
                    list(
                            DISTURBED,
                            i -> undisturbed.get(i + 1).p99()
                                    / undisturbed.get(i).p99()),
                    list(DISTURBED + 1, i -> undisturbed.get(i).p99()),
                    ROUNDS,
                    left,
                    targets.atMost("class loaders left", left, 1));
        }
    }

    private static String list(int count, IntToDoubleFunction figure) {
        return IntStream.range(0, count)
                .mapToObj(i -> String.format(Locale.ROOT, "%.2f", figure.applyAsDouble(i)))
                .collect(Collectors.joining(", "));
    }

    /** A plugin that refuses every request, from its coming to its going. */
    private static void comeAndGo(Path tree, Relay relay, User user) throws IOException {
        Path etc = tree.resolve("etc");
        Path jar = new PluginJar("bench_gate", Gate.class, RequestGuardrail.class).deploy(etc.resolve("plugins"));
        Files.writeString(etc.resolve("plugins.toml"), GATE);
        Await.until("the plugin acts", PATIENCE, () -> status(relay, user) == 403);
        Files.writeString(etc.resolve("plugins.toml"), NOTHING);
        Files.delete(jar);
        Await.until("the plugin is gone", PATIENCE, () -> status(relay, user) == 200);
    }

    private static int status(Relay relay, User user) {
        return RawHttp.post(relay.port(), "/v1/messages", "{\"model\":\"m\"}", user.header())
                .status();
    }

    /** Class loaders of bundles that a collection leaves in the process. */
    private static long loaders(long pid) throws IOException, InterruptedException {
        Process histogram = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/jcmd").toString(),
                        Long.toString(pid),
                        "GC.class_histogram")
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String lines = new String(histogram.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (histogram.waitFor() != 0) {
            throw new IOException("jcmd failed: " + lines);
        }
        return lines.lines()
                .filter(line -> line.contains(LOADER))
                .mapToLong(line -> Long.parseLong(line.strip().split("\\s+")[1]))
                .sum();
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
        Files.writeString(toml, NOTHING);
        Thread.sleep(3_500);
        Files.delete(etc.resolve("plugins/bench_header.jar"));
    }

    /** Refuses everything. */
    public static final class Gate implements RequestGuardrail {
        public Gate(Map<String, Object> properties) {}

        @Override
        public CompletionStage<Decision> check(ModelRequest request) {
            return CompletableFuture.completedStage(new Decision.Deny("closed"));
        }
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
