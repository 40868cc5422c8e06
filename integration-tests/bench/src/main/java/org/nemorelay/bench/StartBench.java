package org.nemorelay.bench;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/** Time from spawn to answer, and memory, of every role (milliseconds and MB, medians). */
final class StartBench {
    private static final int WARM_UP = 2;
    private static final int RUNS = 11;
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final byte[] HOOK =
            ("{\"hook_event_name\":\"PostToolUse\",\"session_id\":\"s\",\"tool_name\":\"Bash\","
                            + "\"tool_input\":{\"command\":\"echo hi\"},\"tool_response\":\"hi\"}")
                    .getBytes(StandardCharsets.UTF_8);

    private final Subject subject;
    private final User user;
    private final MockProvider provider;

    StartBench(Subject subject, User user, MockProvider provider) {
        this.subject = subject;
        this.user = user;
        this.provider = provider;
    }

    /** A run of the development kit's {@code java}, class-data archive and all, that does nothing. */
    static double nothing() {
        return elapsed(() -> Proc.spec()
                .command(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Nothing.class.getName())
                .run(LIMIT));
    }

    Map<String, Double> run() {
        Map<String, Double> figures = new LinkedHashMap<>();
        figures.put("daemon ready, ms", Samples.take(1, 5, this::daemonReady).median());
        try (Relay relay = Relay.start(user, subject.executable(), Relay.upstream(provider))) {
            LockSupport.parkNanos(Duration.ofSeconds(2).toNanos());
            figures.put("daemon idle, MB", Memory.resident(relay.process().pid()));
            figures.put(
                    "MCP to initialize without credential, ms",
                    Samples.take(WARM_UP, RUNS, () -> mcp(relay, false)).median());
            figures.put(
                    "MCP to initialize with credential, ms",
                    Samples.take(WARM_UP, RUNS, () -> mcp(relay, true)).median());
            figures.put(
                    "MCP to worker ready, ms",
                    Samples.take(1, 5, () -> workerReady(relay)).median());
            // The daemon knows the token by now, as it does in a session.
            figures.put(
                    "hook, ms", Samples.take(WARM_UP, RUNS, () -> hook(relay)).median());
            figures.put(
                    "hook peak, MB", Samples.take(0, 5, () -> hookPeak(relay)).median());
            idle(relay, figures);
        }
        return figures;
    }

    private double daemonReady() {
        long start = System.nanoTime();
        try (Relay relay = Relay.start(user, subject.executable(), Relay.upstream(provider))) {
            return relay.process().alive() ? millisSince(start) : Double.NaN;
        }
    }

    private double hook(Relay relay) {
        return elapsed(() -> {
            Proc.Result result = hookSpec(relay).run(HOOK, LIMIT);
            require(result.exit() == 0, "the hook exits 0: " + result.stderr());
        });
    }

    private double hookPeak(Relay relay) {
        try (Proc hook = hookSpec(relay).start()) {
            hook.write(HOOK);
            hook.closeInput();
            return Memory.peakUntilEnd(hook.pid());
        }
    }

    private Proc.Spec hookSpec(Relay relay) {
        return user.withToken(
                subject.executable().toString(), "daemon", "hook", "claude", "--daemon-address", relay.address());
    }

    private double mcp(Relay relay, boolean credential) {
        String[] command = {subject.executable().toString(), "daemon", "mcp", "--daemon-address", relay.address()};
        long start = System.nanoTime();
        try (McpSession mcp = McpSession.start(credential ? user.withToken(command) : user.spec(command))) {
            mcp.initialize();
            double elapsed = millisSince(start);
            mcp.end();
            relay.awaitNoWorker(LIMIT);
            return elapsed;
        }
    }

    private double workerReady(Relay relay) {
        long start = System.nanoTime();
        try (McpSession mcp = McpSession.start(user, subject.executable(), relay)) {
            relay.awaitReadyWorker();
            double elapsed = millisSince(start);
            mcp.initialize();
            mcp.end();
            relay.awaitNoWorker(LIMIT);
            return elapsed;
        }
    }

    private void idle(Relay relay, Map<String, Double> figures) {
        try (McpSession mcp = McpSession.initialized(user, subject.executable(), relay)) {
            relay.awaitReadyWorker();
            RawHttp.post(relay.port(), "/v1/messages", "{\"stream\":true}", user.header());
            LockSupport.parkNanos(Duration.ofSeconds(2).toNanos());
            figures.put("MCP idle, MB", Memory.resident(mcp.process().pid()));
            figures.put("worker idle, MB", Memory.resident(worker(relay)));
            mcp.end();
            relay.awaitNoWorker(LIMIT);
        }
    }

    /** The process of the daemon's only worker. */
    static long worker(Relay relay) {
        return ProcessTable.mentioning(relay.address()).stream()
                .filter(process -> process.arguments().contains("worker"))
                .findFirst()
                .orElseThrow()
                .pid();
    }

    private static double elapsed(Runnable action) {
        long start = System.nanoTime();
        action.run();
        return millisSince(start);
    }

    private static double millisSince(long start) {
        return (System.nanoTime() - start) / 1e6;
    }

    private static void require(boolean condition, String what) {
        if (!condition) {
            throw new IllegalStateException(what);
        }
    }
}
