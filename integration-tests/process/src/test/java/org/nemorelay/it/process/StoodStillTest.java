package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;

/** A worker that goes on after a pause hears its daemon before it sends what lies in its sockets. */
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class StoodStillTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String CALL = "/v1/messages";
    private static final String SCALE = "20";

    @TempDir
    Path folder;

    /** Its user was told that the request failed, and the successor may serve him: it must not be sent behind his back. */
    @Test
    void sendsNothingThatIsOlderThanItsDrainDeadline() throws Exception {
        try (OneUser bench = new OneUser(folder, "", "/worker");
                Relay relay = Relay.start(
                        bench.user,
                        bench.executable,
                        Relay.upstream(bench.provider).env("NEMO_RELAY_TEST_TIME_SCALE", SCALE));
                ControlCut road = new ControlCut(relay.port());
                McpSession session = McpSession.start(bench.user
                        .withToken(bench.executable.toString(), "daemon", "mcp", "--daemon-address", road.address())
                        .env("NEMO_RELAY_TEST_TIME_SCALE", SCALE))) {
            session.initialize();
            relay.awaitReadyWorker(session);
            long pid = bench.workers().getFirst().pid();
            signal(pid, "STOP");
            try (RawHttp request = new RawHttp(relay.port(), PATIENCE)) {
                request.send("POST", CALL, "{}", bench.user.header());
                Await.until(
                        () -> "on its way to the worker " + relay.workers(),
                        PATIENCE,
                        () -> relay.workers().getFirst().integer("in_flight", 0, 9) == 1);
                road.hold();
                assertEquals(0, session.end());
                assertEquals(502, request.answer().status());
            }
            relay.awaitNoWorker(PATIENCE);
            signal(pid, "CONT");
            Thread.sleep(1_000); // the request has long been read, and what the daemon said has not
            assertEquals(List.of(), bench.provider.received());
            road.letGo();
            Await.until("its end", PATIENCE, () -> bench.workers().isEmpty());
            assertEquals(List.of(), bench.provider.received(), session.process()::transcript);
        }
    }

    /** It hears nothing new, and what was asked meanwhile is answered. */
    @Test
    void sendsWhatIsStillWaitedFor() throws Exception {
        try (OneUser bench = new OneUser(folder, "", "/worker");
                Relay relay = bench.daemon();
                McpSession session = McpSession.initialized(bench.user, bench.executable, relay)) {
            bench.provider.respond("/worker" + CALL, (request, reply) -> reply.sized(200, "application/json", "{}"));
            relay.awaitReadyWorker(session);
            long pid = bench.workers().getFirst().pid();
            signal(pid, "STOP");
            try (RawHttp request = new RawHttp(relay.port(), PATIENCE)) {
                request.send("POST", CALL, "{}", bench.user.header());
                Thread.sleep(4_000); // the pause itself is what is tested
                signal(pid, "CONT");
                assertEquals(200, request.answer().status());
            }
            assertEquals(1, bench.provider.received().size());
            assertEquals(0, session.end());
            bench.awaitNoWorkerProcess();
        }
    }

    private static void signal(long pid, String name) throws Exception {
        assertEquals(
                0,
                new ProcessBuilder("kill", "-" + name, Long.toString(pid))
                        .start()
                        .waitFor());
    }
}
