package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.HookPolicy;

/** Whoever dies, and however a start fails: no worker lives on without a daemon and a session that know it (report B43). */
@Timeout(240)
@Execution(ExecutionMode.CONCURRENT)
class NothingIsLeftTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    /** A worker whose plugin never starts, and never minds; its start has no deadline, but its daemon and session have an end. */
    @ParameterizedTest
    @ValueSource(strings = {"session ends", "session is killed", "daemon is killed"})
    void aWorkerThatHangsInItsStartEndsWithWhatItBelongsTo(String what) {
        Path begun = folder.resolve("begun");
        String component = "[[components]]\nkind = \"hangs\"\n[components.config]\nbegun = \"" + begun + "\"\n";
        try (OneUser bench = new OneUser(folder, component)) {
            new PluginJar("hangs", Hanging.class, HookPolicy.class)
                    .deploy(bench.executable.resolve("../../etc/plugins").normalize());
            try (Relay relay = bench.daemon();
                    McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
                Await.until(
                        () -> "a worker is staged and hangs\n" + relay.process().transcript(),
                        LIMIT,
                        () -> relay.process().stderr().contains("event=worker_staged") && Files.exists(begun));
                switch (what) {
                    case "session ends" -> assertEquals(0, mcp.end());
                    case "session is killed" -> mcp.process().signal("KILL");
                    default -> relay.process().signal("KILL");
                }
                Await.until(
                        () -> "no worker is left\n" + mcp.process().transcript(),
                        // 5 s, and as much again for a machine that is busy.
                        Duration.ofSeconds(10),
                        () -> bench.workers().isEmpty());
            }
        }
    }

    /** The start of a worker that hangs before it is one, and has its own idea of SIGTERM. */
    @Test
    void aStartThatHeedsNoSignalIsKilledWithItsSession() throws IOException {
        try (OneUser bench = new OneUser(folder)) {
            Path real = bench.executable.resolveSibling("nemo-relay.real");
            Files.move(bench.executable, real);
            Files.writeString(bench.executable, """
                    #!/bin/sh
                    case "${1-} ${2-}" in 'daemon worker') trap '' TERM HUP INT; while :; do sleep 0.2; done ;; esac
                    exec "${0%/*}/nemo-relay.real" "$@"
                    """);
            Files.setPosixFilePermissions(bench.executable, PosixFilePermissions.fromString("rwxr-xr-x"));
            try (Relay relay = bench.daemon();
                    McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
                Await.until(
                        "a worker is starting", LIMIT, () -> !bench.workers().isEmpty());
                assertEquals(0, mcp.end());
                Await.until(
                        "no worker is left",
                        Duration.ofSeconds(5),
                        () -> bench.workers().isEmpty());
            }
        }
    }

    /** Each is taken back by the next daemon, under its own generation, and by nobody twice. */
    @Test
    void threeWorkersOfAKilledDaemonServeTheNextOne() {
        List<McpSession> sessions = new ArrayList<>();
        try (MockProvider provider = new MockProvider()
                .respond("/worker/v1/messages", (request, reply) -> reply.sized(200, "application/json", "{}"))) {
            Path executable = Distribution.privateTree(
                            folder.resolve("tree"), Relay.upstreamToml(provider.origin() + "/worker"), "version = 1\n")
                    .resolve("bin/nemo-relay");
            User service = User.self(folder.resolve("service"));
            List<User> users = List.of(
                    User.self(folder.resolve("ann")),
                    User.self(folder.resolve("bob")),
                    User.self(folder.resolve("eve")));
            int port;
            List<Long> workers;
            List<String> ids;
            try (Relay relay = Relay.start(service, executable, Relay.upstream(provider))) {
                port = relay.port();
                users.forEach(user -> sessions.add(McpSession.initialized(user, executable, relay)));
                awaitThree(relay, sessions);
                workers = pids();
                ids = ids(relay);
                relay.process().signal("KILL");
                relay.process().awaitExit(LIMIT);
            }
            try (Relay next = Relay.start(port, service, executable, Relay.upstream(provider))) {
                awaitThree(next, sessions);
                assertEquals(workers, pids(), "the same processes");
                assertEquals(ids, ids(next), "and no second one of anybody");
                for (User user : users) {
                    assertEquals(
                            200,
                            RawHttp.post(port, "/v1/messages", "{}", user.header())
                                    .status());
                }
                assertEquals(3, provider.received("/worker/v1/messages").size());
                sessions.forEach(session -> assertEquals(0, session.end()));
                Await.until("no worker is left", LIMIT, () -> pids().isEmpty());
            }
        } finally {
            sessions.forEach(McpSession::close);
        }
    }

    /** Two at once on one port and one state folder: one serves, the other ends and leaves it alone. */
    @Test
    void ofTwoDaemonsThatStartTogetherOneServes() {
        try (OneUser bench = new OneUser(folder)) {
            int port = Relay.freePort();
            var spec = bench.user.spec(bench.executable.toString(), "daemon", "--port", "" + port);
            try (var one = spec.start();
                    var other = spec.start()) {
                Await.until(
                        () -> "one has ended\n" + one.transcript() + other.transcript(),
                        LIMIT,
                        () -> !one.alive() || !other.alive());
                var serving = one.alive() ? one : other;
                Await.until(
                        serving::transcript,
                        LIMIT,
                        () -> RawHttp.get(port, "/healthz").status() == 200);
                assertTrue(serving.alive(), serving::transcript);
                try (McpSession mcp = McpSession.start(bench.user
                        .withToken(bench.executable.toString(), "daemon", "mcp", "--daemon-address")
                        .command("http://127.0.0.1:" + port))) {
                    assertFalse(mcp.initialize().has("error"));
                    assertEquals(0, mcp.end());
                }
            }
        }
    }

    /** A session is patient with a daemon that comes late: 30 s. */
    @Test
    void aSessionWaitsForADaemonThatIsSlowToStart() {
        try (OneUser bench = new OneUser(folder)) {
            int port = Relay.freePort();
            try (McpSession mcp = McpSession.start(bench.user
                    .withToken(bench.executable.toString(), "daemon", "mcp", "--daemon-address")
                    .command("http://127.0.0.1:" + port))) {
                mcp.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}").answer();
                try (Relay relay = Relay.start(port, bench.user, bench.executable, Relay.upstream(bench.provider))) {
                    assertTrue(mcp.initialize().has("result"));
                    relay.awaitReadyWorker(mcp);
                    assertEquals(0, mcp.end());
                    relay.awaitNoWorker(Duration.ofSeconds(15));
                }
            }
        }
    }

    private static void awaitThree(Relay relay, List<McpSession> sessions) {
        Await.until(
                () -> "three ready workers of " + relay.workers() + "\n"
                        + relay.process().transcript()
                        + sessions.stream()
                                .map(session -> session.process().transcript())
                                .toList(),
                LIMIT,
                () -> relay.workers().stream()
                                .filter(worker ->
                                        worker.string("state").equals("ready") && worker.bool("control_available"))
                                .count()
                        == 3);
    }

    private static List<String> ids(Relay relay) {
        return relay.workers().stream()
                .map((JsonObject worker) -> worker.string("worker_id"))
                .toList();
    }

    private List<Long> pids() {
        return ProcessTable.mentioning(folder.toString()).stream()
                .filter(process -> process.arguments().contains("worker"))
                .map(ProcessTable.Entry::pid)
                .sorted()
                .toList();
    }

    /** Never starts and heeds no interrupt. */
    public static final class Hanging extends Allowing {
        public Hanging(Map<String, Object> properties) throws IOException {
            Files.createFile(Path.of(properties.get("begun").toString()));
            while (true) {
                LockSupport.parkNanos(1_000_000_000);
                Thread.interrupted();
            }
        }
    }
}
