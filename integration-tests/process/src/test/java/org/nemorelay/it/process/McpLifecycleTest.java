package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Relay;
import org.nemorelay.json.JsonObject;

/** How a lifecycle client begins and ends, as far as a harness can tell. */
class McpLifecycleTest {
    private static final Duration AT_ONCE = Duration.ofSeconds(5);

    @TempDir
    Path folder;

    @Test
    void onlyInitializeWaitsForARegistrationThatDoesNotCome() {
        try (OneUser bench = new OneUser(folder);
                SilentDaemon daemon = new SilentDaemon();
                McpSession mcp = McpSession.start(session(bench, daemon.address(), true))) {
            Await.until("the client turned to the daemon", Duration.ofSeconds(10), () -> daemon.connections() > 0);
            mcp.send(
                    "{\"jsonrpc\":\"2.0\",\"id\":\"server-discover-probe-1\",\"method\":\"server/discover\",\"params\":{}}");
            JsonObject discover = mcp.answer();
            assertEquals("server-discover-probe-1", discover.string("id"));
            assertEquals(-32601, discover.object("error").integer("code", -40000, 0));
            mcp.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
            JsonObject pong = mcp.answer();
            assertEquals(1, pong.integer("id", 0, 9));
            assertTrue(pong.has("result"));
            mcp.send(
                    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\"}}");
            mcp.send("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/list\"}");
            mcp.process().closeInput();
            mcp.process().awaitExit(AT_ONCE);
            assertEquals(
                    2,
                    mcp.process().stdout().lines().count(),
                    () -> "answered before the registration: " + mcp.process().stdout());
        }
    }

    @Test
    void withoutACredentialItServesAtOnceAndLeavesTheDaemonAlone() {
        try (OneUser bench = new OneUser(folder);
                SilentDaemon daemon = new SilentDaemon();
                McpSession mcp = McpSession.start(session(bench, daemon.address(), false))) {
            assertTrue(mcp.initialize().has("result"));
            assertEquals(
                    List.of(),
                    mcp.send("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}")
                            .answer()
                            .object("result")
                            .objects("tools"));
            assertEquals(0, mcp.end());
            assertEquals(0, daemon.connections());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"EOF", "INT", "TERM", "HUP"})
    void anEndWhileItStillRegisters(String end) {
        try (OneUser bench = new OneUser(folder);
                SilentDaemon daemon = new SilentDaemon();
                McpSession mcp = McpSession.start(session(bench, daemon.address(), true))) {
            Await.until("the client turned to the daemon", Duration.ofSeconds(10), () -> daemon.connections() > 0);
            end(mcp, end);
            mcp.process().awaitExit(AT_ONCE);
            assertEquals("", mcp.process().stdout());
        }
    }

    /** Claude Code ends its servers with SIGINT, Codex with SIGTERM: neither may leave a worker for the 30 s of a lost session. */
    @ParameterizedTest
    @ValueSource(strings = {"EOF", "INT", "TERM"})
    void anEndOfTheLastSessionEndsTheWorker(String end) {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.start(quiet(bench, relay))) {
            mcp.initialize();
            relay.awaitReadyWorker(mcp);
            end(mcp, end);
            mcp.process().awaitExit(AT_ONCE);
            relay.awaitNoWorker(Duration.ofSeconds(10));
            bench.awaitNoWorkerProcess();
            assertEquals("", mcp.process().stderr());
        }
    }

    /** How far the worker is when its session ends. */
    private enum Stage {
        ASKED,
        STARTED,
        LISTENING
    }

    /** A wanted end is no failure, and a harness shows its user what is on standard error: nothing, of client or worker. */
    @ParameterizedTest
    @ValueSource(strings = {"EOF", "TERM"})
    void aSessionThatEndsWhileItsWorkerStartsSaysNothing(String end) {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon()) {
            for (Stage stage : Stage.values()) {
                try (McpSession mcp = McpSession.start(quiet(bench, relay))) {
                    mcp.initialize();
                    Await.until(stage.name(), Duration.ofSeconds(20), () -> switch (stage) {
                        case ASKED -> true;
                        case STARTED -> !bench.workers().isEmpty();
                        case LISTENING ->
                            bench.workers().stream()
                                    .anyMatch(worker -> !ProcessTable.listeningPorts(worker.pid())
                                            .isEmpty());
                    });
                    end(mcp, end);
                    assertEquals(0, mcp.process().awaitExit(AT_ONCE));
                    bench.awaitNoWorkerProcess();
                    assertEquals("", mcp.process().stderr(), stage::name);
                }
            }
        }
    }

    @Test
    @Tag("long")
    void aKilledSessionIsForgottenAfterItsGrace() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            mcp.process().signal("KILL");
            relay.awaitNoWorker(Duration.ofSeconds(35));
            bench.awaitNoWorkerProcess();
        }
    }

    private static void end(McpSession mcp, String end) {
        if (end.equals("EOF")) {
            mcp.process().closeInput();
        } else {
            assumeFalse(
                    end.equals("INT") && ProcessTable.ignoresInterrupts(),
                    "these tests were started with SIGINT ignored, which a process inherits");
            mcp.process().signal(end);
        }
    }

    /** At the default level of the log. */
    private static Proc.Spec quiet(OneUser bench, Relay relay) {
        return session(bench, relay.address(), true).env("NEMO_RELAY_LOG", "error");
    }

    private static Proc.Spec session(OneUser bench, String address, boolean token) {
        String[] command = {bench.executable.toString(), "daemon", "mcp", "--daemon-address", address};
        return token ? bench.user.withToken(command) : bench.user.spec(command);
    }

    /** Accepts connections and never says a word. */
    private static final class SilentDaemon implements AutoCloseable {
        private final ServerSocket server;
        private final List<Socket> accepted = new CopyOnWriteArrayList<>();

        SilentDaemon() {
            try {
                server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
            Thread.ofVirtual().name("silent-daemon").start(() -> {
                try {
                    while (true) {
                        accepted.add(server.accept());
                    }
                } catch (IOException closed) {
                    return;
                }
            });
        }

        String address() {
            return "http://127.0.0.1:" + server.getLocalPort();
        }

        int connections() {
            return accepted.size();
        }

        @Override
        public void close() {
            try {
                server.close();
                for (Socket socket : accepted) {
                    socket.close();
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }
}
