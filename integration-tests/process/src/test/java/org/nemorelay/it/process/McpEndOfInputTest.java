package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;

/** However the harness goes, the lifecycle client goes within a second and its reference with it (B23). */
class McpEndOfInputTest {
    private static final Duration A_SECOND = Duration.ofSeconds(1);

    /** Starts a client with its standard streams on pipes that nobody else holds, tells its pid, and waits. */
    private static final String HARNESS = """
            coproc MCP { exec "$@"; }
            echo '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}' >&"${MCP[1]}"
            read -r answer <&"${MCP[0]}"
            echo "$MCP_PID"
            read -r
            """;

    @TempDir
    Path folder;

    @Test
    void atItsEndFromTheStart() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon()) {
            McpSession.initialized(bench.user, bench.executable, relay).close(); // The first start reads the disk.
            try (McpSession mcp = McpSession.start(bench.user, bench.executable, relay)) {
                mcp.process().closeInput();
                assertEquals(0, mcp.process().awaitExit(A_SECOND.plus(A_SECOND))); // Java's start included
                assertEquals("", mcp.process().stdout());
            }
            untouched(relay);
        }
    }

    @Test
    void closedAfterTheInitialization() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            mcp.process().closeInput();
            assertEquals(0, mcp.process().awaitExit(A_SECOND));
            untouched(relay);
            bench.awaitNoWorkerProcess();
        }
    }

    /** A terminal's Ctrl-\\ reaches it too. */
    @Test
    void theRuntimesOwnWordsAreNoPartOfTheProtocol() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            mcp.process().signal("QUIT");
            Await.until(
                    () -> "the threads are listed\n" + mcp.process().transcript(),
                    Duration.ofSeconds(20),
                    () -> mcp.process().stderr().contains("Full thread dump"));
            mcp.process().closeInput();
            assertEquals(0, mcp.process().awaitExit(A_SECOND));
            assertTrue(
                    mcp.process().stdout().lines().allMatch(line -> line.startsWith("{")), mcp.process()::transcript);
        }
    }

    @Test
    void closedByTheDeathOfTheHarness() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                Proc harness = bench.user
                        .withToken(
                                "bash",
                                "-c",
                                HARNESS,
                                "harness",
                                bench.executable.toString(),
                                "daemon",
                                "mcp",
                                "--daemon-address",
                                relay.address())
                        .start()) {
            long mcp =
                    Long.parseLong(harness.stdoutLine(0, Duration.ofSeconds(20)).strip());
            assertTrue(runs(mcp));
            Await.until(
                    "a worker", Duration.ofSeconds(20), () -> !relay.workers().isEmpty());
            harness.signal("KILL");
            Await.until("the client has ended", A_SECOND, () -> !runs(mcp));
            untouched(relay);
            bench.awaitNoWorkerProcess();
        }
    }

    /**
     * Claude Code kills 500 ms after its SIGINT, Pi 2.5 s after the end of input; Codex kills too soon for anything to be
     * done. On a busy machine it may take more than one session to see it.
     */
    @ParameterizedTest
    @CsvSource({"INT, 500", "EOF, 2500"})
    void theReferenceIsGivenBackBeforeTheHarnessKills(String end, long killedAfterMs) {
        assumeFalse(
                end.equals("INT") && ProcessTable.ignoresInterrupts(),
                "these tests were started with SIGINT ignored, which a process inherits");
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon()) {
            Await.until(() -> "given back\n" + relay.process().transcript(), Duration.ofSeconds(90), () -> {
                try (McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
                    if (end.equals("INT")) {
                        mcp.process().signal("INT");
                    } else {
                        mcp.process().closeInput();
                    }
                    // The pause is the harness's own.
                    Thread.sleep(killedAfterMs);
                    mcp.process().signal("KILL");
                    mcp.process().awaitExit(Duration.ofSeconds(20));
                }
                return relay.process()
                        .stderr()
                        .lines()
                        .anyMatch(line -> line.contains("event=mcp_removed") && line.contains("reason=released"));
            });
        }
    }

    /** The daemon serves on and the reference is released: long before a lost session's 30 s. */
    private static void untouched(Relay relay) {
        assertEquals(200, RawHttp.get(relay.port(), "/healthz").status());
        relay.awaitNoWorker(Duration.ofSeconds(10));
        assertTrue(relay.process().alive());
    }

    /** A process that ended and waits for its parent has no command line. */
    private static boolean runs(long pid) {
        try {
            return Files.readAllBytes(Path.of("/proc", Long.toString(pid), "cmdline")).length > 0;
        } catch (IOException ended) {
            return false;
        }
    }
}
