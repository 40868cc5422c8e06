package org.nemorelay.mcp.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.nemorelay.control.FakeDaemon.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.control.ControlListener;
import org.nemorelay.control.FakeDaemon;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.control.ActivationFailure;
import org.nemorelay.protocol.control.CancelOutcome;
import org.nemorelay.protocol.control.Capabilities;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;

@Timeout(60)
class McpProcessTest {
    @TempDir
    Path temp;

    private FakeDaemon daemon;

    @BeforeEach
    void start() throws IOException {
        daemon = new FakeDaemon(temp.resolve("daemon-user"));
    }

    @AfterEach
    void stop() {
        daemon.close();
        assertEquals(List.of(), daemon.faults());
    }

    private Path home() throws IOException {
        return Files.createDirectories(temp.resolve("user"));
    }

    private Harness harness() throws IOException {
        return new Harness(home(), daemon.url(), true);
    }

    private static Directive launch(String activation) {
        return new Directive.LaunchWorker(
                new LaunchGrant(activation, "secret", LaunchGrant.NO_DEADLINE, "127.0.0.1", 0, Optional.empty()));
    }

    @Test
    void withoutACredentialItServesAlone() throws Exception {
        try (Harness harness = new Harness(home(), daemon.url(), false)) {
            harness.initialize();
            assertTrue(harness.answer().contains("serverInfo"));
            harness.endInput();
            assertEquals(0, harness.exit());
            assertTrue(harness.logged.getFirst().contains("missing_credential"), harness.logged.toString());
            assertEquals(0, daemon.registrations());
            assertFalse(Files.exists(home().resolve(".config")));
        }
    }

    /** The user has a token and believes in it: what is wrong is told at every level of the log. */
    @Test
    void aTokenFileThatCannotBeUsedIsTold() throws Exception {
        Path file =
                Files.createDirectories(home().resolve(".config/nemo-relay")).resolve(".client-token");
        Files.writeString(file, Harness.TOKEN);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));
        try (Harness harness = new Harness(home(), daemon.url(), false)) {
            harness.initialize();
            harness.answer();
            harness.endInput();
            assertEquals(0, harness.exit());
            List<String> errors = harness.logged.stream()
                    .filter(line -> line.startsWith("ERROR"))
                    .toList();
            assertEquals(1, errors.size(), errors.toString());
            assertTrue(
                    errors.getFirst()
                            .endsWith("No usable client credential: " + file
                                    + " is open to others; its mode must be 0600 or 0400: chmod 600 " + file
                                    + "; serving MCP without a daemon route, so no worker and no plugins"),
                    errors.getFirst());
        }
    }

    @Test
    void initializeWaitsForTheRegistration() throws Exception {
        daemon.silent = true;
        try (Harness harness = harness()) {
            harness.initialize();
            harness.send("{'jsonrpc':'2.0','id':1,'method':'tools/list'}");
            harness.send("{'jsonrpc':'2.0','id':2,'method':'ping'}");
            harness.send("{'jsonrpc':'2.0','id':3,'method':'server/discover'}");
            assertTrue(harness.answer().startsWith("{\"id\":2,"));
            assertTrue(harness.answer().contains("-32601"));
            assertTrue(harness.silent());
            daemon.silent = false; // the attempt that hangs is followed by one that does not
            assertTrue(harness.answer().startsWith("{\"id\":0,"));
            assertTrue(harness.answer().startsWith("{\"id\":1,"));
        }
    }

    /** The harness waits for `initialize` meanwhile: it is told at the default level, once. */
    @Test
    void aSessionThatIsRefusedForALimitSaysSoOnce() throws Exception {
        daemon.upgradeStatus = 429;
        try (Harness harness = harness()) {
            harness.initialize();
            await("it has tried twice", () -> daemon.upgrades() >= 2);
            daemon.upgradeStatus = 101;
            assertTrue(harness.answer().contains("serverInfo"));
            assertEquals(
                    List.of("ERROR daemon_mcp_refused the daemon at "
                            + daemon.url().argument()
                            + " takes no more control connections for a while; trying again for 30 s"),
                    harness.errors());
        }
    }

    /** One that waits 20 s for `initialize` kills this client before it gives up and says why. */
    @Test
    void aSessionThatHasNoDaemonForLongerThanARestartSaysSoOnce() throws Exception {
        daemon.upgradeStatus = 503;
        try (Harness harness = harness()) {
            harness.initialize();
            await("it is told", () -> !harness.errors().isEmpty());
            long tried = daemon.upgrades();
            assertTrue(tried > 1, "after a restart's time");
            await("it has tried again", () -> daemon.upgrades() > tried);
            daemon.upgradeStatus = 101;
            assertTrue(harness.answer().contains("serverInfo"));
            assertEquals(1, harness.errors().size(), harness.errors().toString());
            String told = harness.errors().getFirst();
            assertTrue(
                    told.startsWith("ERROR daemon_mcp_waiting the daemon at "
                            + daemon.url().argument()),
                    told);
            assertTrue(told.endsWith("; trying again for 30 s in all"), told);
        }
    }

    /** A worker that is started anew has another port. */
    @Test
    void thatTheDaemonDoesNotReachTheWorkerIsToldOnceForEachReason() throws Exception {
        try (Harness harness = harness()) {
            harness.initialize();
            harness.answer();
            for (String[] told : new String[][] {{"1", "x"}, {"2", "x"}, {"3", "y"}, {"4", "x"}}) {
                daemon.pushRaw(FrameCodec.encode(
                        new ServerEvent.WorkerUnreachable(told[0], "https://w.test:" + told[0], told[1])));
            }
            await("both reasons are told", () -> harness.errors().size() == 2);
            harness.endInput();
            assertEquals(0, harness.exit());
            String rest = "; requests pass by the worker and its plugins until it can";
            assertEquals(
                    List.of(
                            "ERROR worker_unreachable The daemon cannot reach this user's worker at https://w.test:1: x"
                                    + rest,
                            "ERROR worker_unreachable The daemon cannot reach this user's worker at https://w.test:3: y"
                                    + rest),
                    harness.errors());
        }
    }

    @Test
    void theEndOfInputGivesTheRouteBack() throws Exception {
        try (Harness harness = harness()) {
            harness.initialize();
            harness.answer();
            harness.endInput();
            assertEquals(0, harness.exit());
            assertEquals(1, daemon.payloads(SessionPayload.Release.class).size());
        }
    }

    @Test
    void inputThatEndsAtOnceIsStillAnswered() throws Exception {
        try (Harness harness = harness()) {
            harness.initialize();
            harness.endInput();
            assertTrue(harness.answer().contains("serverInfo"));
            assertEquals(0, harness.exit());
        }
    }

    @Test
    void aSignalGivesTheRouteBack() throws Exception {
        try (Harness harness = harness()) {
            harness.initialize();
            harness.answer();
            harness.signal();
            assertEquals(0, harness.exit());
            assertEquals(1, daemon.payloads(SessionPayload.Release.class).size());
        }
    }

    @Test
    void aSignalDoesNotWaitForASilentDaemon() throws Exception {
        try (Harness harness = harness()) {
            harness.initialize();
            harness.answer();
            daemon.silent = true;
            long before = System.nanoTime();
            harness.signal();
            assertEquals(0, harness.exit());
            assertTrue(System.nanoTime() - before < 2_000_000_000L);
        }
    }

    @Test
    void onlyALaunchStartsAWorker() throws Exception {
        Harness.worker(home(), "exec sleep 60");
        daemon.directive = new Directive.WaitForWorker(100);
        try (Harness harness = harness()) {
            harness.initialize();
            harness.answer();
            daemon.push(new Directive.UsePassThrough());
            daemon.push(new Directive.ReuseWorker("http://127.0.0.1:9"));
            await("acknowledgements", () -> daemon.acknowledgements() == 3);
            assertEquals(0, harness.startedWorkers());

            daemon.push(launch("a1"));
            daemon.push(launch("a1"));
            await("a worker", () -> harness.startedWorkers() == 1);
            assertEquals(
                    List.of(
                            "daemon",
                            "worker",
                            "--daemon-address",
                            daemon.url().argument(),
                            "--bind",
                            "127.0.0.1",
                            "token=none"),
                    harness.file("arguments").lines().toList());
            LaunchGrant grant = LaunchGrant.of(Json.parseObject(harness.file("input")));
            assertEquals("a1", grant.activationId());
            assertEquals(LaunchGrant.NO_DEADLINE, grant.deadlineUnixMs());
        }
    }

    @Test
    void aFixedPortAndHostReachTheWorker() throws Exception {
        Harness.worker(home(), "exec sleep 60");
        daemon.directive = new Directive.LaunchWorker(
                new LaunchGrant("a", "s", LaunchGrant.NO_DEADLINE, "0.0.0.0", 4711, Optional.of("relay.example.com")));
        try (Harness harness = harness()) {
            await("a worker", () -> harness.startedWorkers() == 1);
            assertTrue(harness.file("arguments")
                    .contains("--bind\n0.0.0.0\n--port\n4711\n--advertise-address\nrelay.example.com\n"));
        }
    }

    /** While it waits for an answer about the worker it leaves, it takes 1,024 more directives and then comes back anew. */
    @Test
    void moreDirectivesThanMayWaitEndTheConnection() throws Exception {
        Harness.worker(home(), "exec sleep 60");
        daemon.directive = launch("a1");
        try (Harness harness = harness()) {
            await("a worker", () -> harness.startedWorkers() == 1 && daemon.acknowledgements() == 1);
            daemon.silent = true;
            daemon.push(new Directive.UsePassThrough());
            for (int i = 0; i < 100_000 && daemon.liveConnections() > 0; i++) {
                daemon.push(new Directive.WaitForWorker(100));
            }
            await("the end of the connection", () -> daemon.liveConnections() == 0);
            long heard = daemon.acknowledgements();
            assertTrue(heard <= 3 + ControlListener.MAX_QUEUED, heard + " directives were taken");
            daemon.silent = false;
            daemon.directive = new Directive.UsePassThrough();
            await("the second registration", () -> daemon.registrations() == 2);
            harness.initialize();
            harness.answer();
        }
    }

    @Test
    void aPublishedWorkerStays() throws Exception {
        assertLeft(CancelOutcome.PUBLISHED, 1);
    }

    @Test
    void aWorkerThatTheDaemonDoesNotWantIsEnded() throws Exception {
        assertLeft(CancelOutcome.SUPERSEDED, 0);
    }

    private void assertLeft(CancelOutcome outcome, long alive) throws Exception {
        Harness.worker(home(), "exec sleep 60");
        daemon.directive = launch("a1");
        daemon.cancelOutcome = outcome;
        try (Harness harness = harness()) {
            await("a worker", () -> harness.startedWorkers() == 1);
            daemon.push(new Directive.ReuseWorker("http://127.0.0.1:9"));
            await(
                    "the cancellation",
                    () -> daemon.payloads(SessionPayload.CancelActivation.class).size() == 1);
            harness.endInput();
            assertEquals(0, harness.exit());
            await("the right number of workers", () -> harness.aliveWorkers() == alive);
            assertEquals(
                    1, daemon.payloads(SessionPayload.CancelActivation.class).size());
        }
    }

    /** The one that hangs, or has its own idea of SIGTERM. */
    @Test
    void aWorkerThatHeedsNothingIsKilledWithItsLaunch() throws Exception {
        Harness.worker(home(), "trap '' TERM\nexec sleep 60");
        daemon.directive = launch("a1");
        try (Harness harness = harness()) {
            await("a worker", () -> harness.startedWorkers() == 1);
            daemon.push(launch("a2"));
            await("the second worker", () -> harness.startedWorkers() == 2);
            assertEquals(1, harness.aliveWorkers(), "the first had ended before");
            long before = System.nanoTime();
            harness.endInput();
            assertEquals(0, harness.exit());
            assertTrue(System.nanoTime() - before < 2_000_000_000L);
            await("no worker", () -> harness.aliveWorkers() == 0);
        }
    }

    /** A daemon that is gone, or says nothing: nobody else would end a start that hangs. */
    @Test
    void aHangingStartIsKilledWhereTheDaemonSaysNothing() throws Exception {
        Harness.worker(home(), "trap '' TERM\nexec sleep 60");
        daemon.directive = launch("a1");
        for (boolean gone : new boolean[] {true, false}) {
            try (Harness harness = harness()) {
                long started = harness.startedWorkers();
                await("a worker", () -> harness.startedWorkers() == started + 1 && daemon.liveConnections() == 1);
                if (gone) {
                    daemon.refusal = Optional.of(
                            new ServerEvent.Reply("", 503, new ReplyBody.Failure("not now", Optional.empty())));
                    daemon.drop();
                } else {
                    daemon.silent = true;
                }
                long before = System.nanoTime();
                harness.signal();
                assertEquals(0, harness.exit());
                await("no worker", () -> harness.aliveWorkers() == 0);
                assertTrue(System.nanoTime() - before < 2_000_000_000L);
            } finally {
                daemon.refusal = Optional.empty();
                daemon.silent = false;
            }
        }
    }

    /** Such as a daemon that is not trusted any more: the process ends, and its worker with it. */
    @Test
    void aHangingStartIsKilledWhereTheRouteCannotBeKept() throws Exception {
        Harness.worker(home(), "trap '' TERM\nexec sleep 60");
        daemon.directive = launch("a1");
        try (Harness harness = harness()) {
            await("a worker", () -> harness.startedWorkers() == 1 && daemon.acknowledgements() == 1);
            daemon.refusal =
                    Optional.of(new ServerEvent.Reply("", 400, new ReplyBody.Failure("never", Optional.empty())));
            daemon.drop();
            assertEquals(1, harness.exit());
            await("no worker", () -> harness.aliveWorkers() == 0);
        }
    }

    /** It is asked again when the connection is back: it may serve by now, or be in the way. */
    @Test
    void aLaunchOfWhichNobodyCouldTellIsAskedAboutAgain() throws Exception {
        Harness.worker(home(), "trap '' TERM\nexec sleep 60");
        daemon.directive = launch("a1");
        try (Harness harness = harness()) {
            await("a worker", () -> harness.startedWorkers() == 1 && daemon.acknowledgements() == 1);
            daemon.directive = new Directive.UsePassThrough();
            daemon.silent = true;
            daemon.push(new Directive.UsePassThrough());
            await("the directive", () -> daemon.acknowledgements() == 2);
            daemon.drop();
            daemon.silent = false;
            await(
                    "the cancellation",
                    () -> daemon.payloads(SessionPayload.CancelActivation.class).size() == 1);
            await("no worker", () -> harness.aliveWorkers() == 0);
        }
    }

    @Test
    void anEndDuringALaunchCancelsIt() throws Exception {
        Harness.worker(home(), "exec sleep 60");
        daemon.directive = launch("a1");
        try (Harness harness = harness()) {
            await("a worker", () -> harness.startedWorkers() == 1);
            harness.signal();
            assertEquals(0, harness.exit());
            await("no worker", () -> harness.aliveWorkers() == 0);
            assertEquals(
                    1, daemon.payloads(SessionPayload.CancelActivation.class).size());
            assertEquals(1, daemon.payloads(SessionPayload.Release.class).size());
        }
    }

    @Test
    void aNewLaunchReplacesTheOldOne() throws Exception {
        Harness.worker(home(), "exec sleep 60");
        daemon.directive = launch("a1");
        try (Harness harness = harness()) {
            await("a worker", () -> harness.startedWorkers() == 1);
            daemon.push(launch("a2"));
            await("the second worker", () -> harness.startedWorkers() == 2 && harness.aliveWorkers() == 1);
            assertEquals(
                    List.of(new SessionPayload.CancelActivation("a1")),
                    daemon.payloads(SessionPayload.CancelActivation.class));
        }
    }

    @Test
    void aWorkerThatExitsTooSoonIsReported() throws Exception {
        Harness.worker(home(), "exit 3");
        daemon.directive = launch("a1");
        assertFailure(ActivationFailure.EXITED_BEFORE_READY, "status 3");
    }

    @Test
    void aWorkerThatCannotBeStartedIsReported() throws Exception {
        daemon.directive = launch("a1");
        assertFailure(ActivationFailure.EXECUTABLE_RESOLUTION_FAILED, "bin/nemo-relay");
    }

    @Test
    void aWorkerThatCannotBeSpawnedIsReported() throws Exception {
        Harness.worker(home(), "");
        Files.writeString(home().resolve("bin/nemo-relay"), "#!/nowhere/sh\n");
        daemon.directive = launch("a1");
        assertFailure(ActivationFailure.PROCESS_SPAWN_FAILED, "Exec failed");
    }

    private void assertFailure(ActivationFailure reason, String said) throws Exception {
        try (Harness harness = harness()) {
            await(
                    "the report",
                    () -> daemon.payloads(SessionPayload.ActivationFailed.class).size() == 1);
            daemon.directive = new Directive.UsePassThrough();
            assertEquals(
                    List.of(new SessionPayload.ActivationFailed("a1", reason)),
                    daemon.payloads(SessionPayload.ActivationFailed.class));
            await("the second registration", () -> daemon.registrations() == 2);
            assertTrue(
                    harness.logged.stream()
                            .anyMatch(line -> line.contains("worker_launch_failed")
                                    && line.contains(reason.word())
                                    && line.contains(said)),
                    harness.logged.toString());
            harness.initialize();
            harness.answer();
        }
    }

    @Test
    void aLostConnectionComesBackAndKeepsTheLaunch() throws Exception {
        Harness.worker(home(), "exec sleep 60");
        daemon.directive = launch("a1");
        try (Harness harness = harness()) {
            await("a worker", () -> harness.startedWorkers() == 1 && daemon.acknowledgements() == 1);
            daemon.drop();
            await("the second registration", () -> daemon.registrations() == 2);
            await("acknowledgements", () -> daemon.acknowledgements() == 2);
            assertEquals(1, harness.startedWorkers());
            assertEquals(1, harness.aliveWorkers());
            harness.initialize();
            harness.answer();
        }
    }

    @Test
    void aRejectedCredentialLeavesMcpServing() throws Exception {
        reject();
        try (Harness harness = harness()) {
            harness.initialize();
            harness.answer();
            assertTrue(harness.logged.stream().anyMatch(line -> line.contains("credential_rejected")));
            assertEquals(1, daemon.registrations());
            harness.endInput();
            assertEquals(0, harness.exit());
        }
    }

    @Test
    void case98ACredentialRejectedLaterLeavesMcpServing() throws Exception {
        try (Harness harness = harness()) {
            harness.initialize();
            harness.answer();
            reject();
            daemon.drop();
            await("the log", () -> harness.logged.stream().anyMatch(line -> line.contains("reregistration")));
            harness.send("{'jsonrpc':'2.0','id':2,'method':'ping'}");
            harness.answer();
            assertFalse(harness.status.isDone());
        }
    }

    private void reject() {
        daemon.refusal = Optional.of(new ServerEvent.Reply(
                "", 401, new ReplyBody.Failure("no", Optional.of(ReplyBody.Failure.CREDENTIAL_REJECTED))));
    }

    @Test
    void case98ADaemonThatIsNoLongerTrustedEndsTheProcess() throws Exception {
        try (Harness harness = harness()) {
            harness.initialize();
            harness.answer();
            harness.endInput();
            harness.exit();
        }
        int port = daemon.url().port();
        daemon.close();
        try (FakeDaemon other = new FakeDaemon(temp.resolve("other"), port);
                Harness harness = harness()) {
            harness.initialize();
            assertEquals(1, harness.exit());
            assertTrue(harness.silent());
            assertEquals(0, other.registrations());
            assertTrue(harness.logged.stream().anyMatch(line -> line.contains("command_failed")));
        }
    }

    @Test
    void anOlderDaemonIsAnsweredForOnceTheRouteIsUsable() throws Exception {
        daemon.descriptor = new Descriptor(
                Descriptor.SERVICE,
                Role.DAEMON,
                org.nemorelay.protocol.control.ProtocolRange.CURRENT,
                Capabilities.REQUIRED,
                "0.8");
        daemon.directive = new Directive.WaitForWorker(100);
        try (Harness harness = harness()) {
            harness.initialize();
            harness.send("{'jsonrpc':'2.0','id':2,'method':'ping'}");
            assertTrue(harness.answer().startsWith("{\"id\":2,"));
            await("the registration", () -> daemon.acknowledgements() == 1);
            assertTrue(harness.silent());
            daemon.push(new Directive.ReuseWorker("http://127.0.0.1:9"));
            assertTrue(harness.answer().startsWith("{\"id\":0,"));
        }
    }

    @Test
    void inputThatBreaksTheProtocolEndsTheProcess() throws Exception {
        for (String bad : List.of("x".repeat(StdioServer.MAX_FRAME + 1), "\u00ff")) {
            try (Harness harness = new Harness(home(), daemon.url(), false)) {
                Thread writer = Thread.ofPlatform().daemon().start(() -> {
                    try {
                        harness.raw(bad);
                    } catch (IOException e) {
                        // it stopped reading
                    }
                });
                assertEquals(1, harness.exit());
                assertTrue(harness.silent());
                writer.interrupt();
            }
        }
    }
}
