package org.nemorelay.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.protocol.control.CancelOutcome;
import org.nemorelay.protocol.control.Capabilities;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.ProtocolRange;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;

class ControlSessionTest {
    private static final RouteToken TOKEN =
            RouteToken.parse("6ABczPkGGtD7g_0xg-a9dnUM0oftASYPYSzz0yvegK0").orElseThrow();
    private static final NetworkHint HINT = new NetworkHint("127.0.0.1", OptionalInt.empty());

    @TempDir
    Path temp;

    private FakeDaemon daemon;
    private final Heard heard = new Heard();

    @BeforeEach
    void start() throws IOException {
        daemon = new FakeDaemon(temp.resolve("daemon"));
    }

    @AfterEach
    void stop() {
        daemon.close();
    }

    private ControlClient client(Role role) {
        StateFolder state = StateFolder.at(temp.resolve("user"));
        Ids ids = new Ids();
        return new ControlClient(
                daemon.url(), role, ids.uuid7(), state.machineIdentity(), state.pins(), ids, new ClientTls(Map.of()));
    }

    private McpRegistration register() {
        return register(System.nanoTime() + 5_000_000_000L);
    }

    private McpRegistration register(long deadlineNanos) {
        return client(Role.MCP).registerMcp(TOKEN, HINT, heard, deadlineNanos);
    }

    @Test
    void anMcpProcessRegistersHearsAndReleases() {
        daemon.directive = new Directive.WaitForWorker(100);
        McpRegistration registration = register();
        assertEquals(new Directive.WaitForWorker(100), registration.directive());
        assertTrue(registration.session().daemon().offers(Capabilities.PEER));
        Directive reuse = new Directive.ReuseWorker("http://127.0.0.1:1");
        // The daemon sends the first of them after its reply.
        FakeDaemon.await("a directive", () -> heard.directives.size() == 1);
        daemon.push(reuse);
        FakeDaemon.await("two directives", () -> heard.directives.size() == 2);
        assertEquals(List.of(registration.directive(), reuse), heard.directives);
        FakeDaemon.await("acknowledgements", () -> daemon.acknowledgements() == 2);

        daemon.cancelOutcome = CancelOutcome.PUBLISHED;
        assertEquals(
                new ReplyBody.ActivationCancelled(CancelOutcome.PUBLISHED),
                registration.session().request(new SessionPayload.CancelActivation("a")));
        assertEquals(new ReplyBody.Empty(), registration.session().request(new SessionPayload.Release()));
        registration.session().close();
        FakeDaemon.await("the end", () -> heard.ends == 1);
        assertFalse(registration.session().connected());
        assertEquals(List.of(), daemon.faults());
    }

    @Test
    void aWorkerRegistersDrainsAndComesBack() {
        ControlClient client = client(Role.WORKER);
        LaunchGrant grant = new LaunchGrant("a", "t", LaunchGrant.NO_DEADLINE, "127.0.0.1", 0, Optional.empty());
        long soon = System.nanoTime() + 30_000_000_000L;
        WorkerRegistration first = client.registerWorker("http://127.0.0.1:2", grant, Optional.empty(), heard, soon);
        first.session().request(new SessionPayload.Ready(client.instanceId()));
        daemon.drain(client.instanceId());
        FakeDaemon.await("the drain", () -> heard.drains.size() == 1);
        assertEquals(client.instanceId(), heard.drains.getFirst().workerId());
        daemon.drop();
        FakeDaemon.await("the end", () -> heard.ends == 1);
        assertEquals(
                FailureKind.UNAVAILABLE,
                assertThrows(
                                RelayException.class,
                                () -> first.session().request(new SessionPayload.Ready(client.instanceId())))
                        .kind());

        WorkerRegistration again =
                client.recoverWorker("http://127.0.0.1:2", Optional.empty(), first.generationGrant(), heard, soon);
        again.session().request(new SessionPayload.Ready(client.instanceId()));
        assertEquals(List.of(), daemon.faults());
    }

    /** A process that stood still finds it so: what was said before the end counts, and is known when a request fails. */
    @Test
    void aDrainHoldsThoughItsDaemonIsGone() {
        ControlClient client = client(Role.WORKER);
        LaunchGrant grant = new LaunchGrant("a", "t", LaunchGrant.NO_DEADLINE, "127.0.0.1", 0, Optional.empty());
        long soon = System.nanoTime() + 30_000_000_000L;
        WorkerRegistration worker = client.registerWorker("http://127.0.0.1:2", grant, Optional.empty(), heard, soon);
        heard.standstill = new CountDownLatch(1);
        daemon.push(new Directive.UsePassThrough());
        FakeDaemon.await("it stands still", () -> heard.directives.size() == 1);
        daemon.drainAndReset(client.instanceId());
        heard.standstill.countDown();
        assertThrows(
                RelayException.class, () -> worker.session().request(new SessionPayload.Ready(client.instanceId())));
        assertEquals(1, heard.drains.size());
    }

    @Test
    void fragmentsAndPingsAreUnderstood() {
        daemon.fragment = 100;
        McpRegistration registration = register();
        registration.session().request(new SessionPayload.Release());
        assertEquals(List.of(), daemon.faults());
    }

    @Test
    void largeFramesTravelBothWays() {
        McpRegistration registration = register();
        daemon.push(new Directive.ReuseWorker("x".repeat(200_000)));
        FakeDaemon.await("the large directive", () -> heard.directives.size() == 2);
        registration.session().request(new SessionPayload.CancelActivation("x".repeat(200_000)));
        assertEquals(List.of(), daemon.faults());
    }

    @Test
    void whatIsNoFrameEndsTheSession() {
        register();
        daemon.pushRaw("{\"type\":\"surprise\",\"request_id\":\"1\"}");
        FakeDaemon.await("the end", () -> heard.ends == 1);
        register();
        daemon.pushRaw("x".repeat(300_000));
        FakeDaemon.await("the end", () -> heard.ends == 2);
    }

    @Test
    void case97RefusalsKeepTheirKind() {
        Optional<String> code = Optional.of(ReplyBody.Failure.CREDENTIAL_REJECTED);
        assertRefused(401, code, FailureKind.CREDENTIAL_REJECTED);
        assertRefused(401, Optional.empty(), FailureKind.UNAUTHORIZED);
        assertRefused(503, code, FailureKind.UNAVAILABLE);
        assertRefused(409, Optional.empty(), FailureKind.CONFLICT);
        assertRefused(426, Optional.empty(), FailureKind.INCOMPATIBLE);
        assertRefused(429, Optional.empty(), FailureKind.LIMIT_REACHED);
        assertEquals(0, daemon.liveConnections());
    }

    @Test
    void aForgedDaemonGetsNoFurther() {
        daemon.forger = Optional.of(StateFolder.at(temp.resolve("other")).daemonIdentity());
        assertEquals(FailureKind.UNAUTHORIZED, failure().kind());
    }

    @Test
    void case105ADaemonWithAnotherKeyNeverSeesTheCredential() throws IOException {
        register().session().close();
        int port = daemon.url().port();
        daemon.close();
        try (FakeDaemon other = new FakeDaemon(temp.resolve("other"), port)) {
            RelayException failure = failure();
            assertEquals(FailureKind.CONFIGURATION, failure.kind());
            assertTrue(RetryPolicy.definitiveForMcp(failure.kind()));
            assertEquals(0, other.registrations());
        }
    }

    @Test
    void aDaemonOfAnotherProtocolIsIncompatible() {
        daemon.descriptor =
                new Descriptor(Descriptor.SERVICE, Role.DAEMON, new ProtocolRange(2, 3), Capabilities.OURS, "9");
        assertEquals(FailureKind.INCOMPATIBLE, failure().kind());
    }

    @Test
    void whoeverAnswersMustBeADaemon() {
        daemon.descriptor = Descriptor.ours(Role.WORKER);
        assertEquals(FailureKind.UNAUTHORIZED, failure().kind());
    }

    @Test
    void nobodyThereAndTooManyThere() {
        daemon.upgradeStatus = 429;
        assertEquals(FailureKind.LIMIT_REACHED, failure().kind());
        daemon.upgradeStatus = 404;
        assertTrue(failure().getMessage().contains("404"));
        daemon.close();
        RelayException failure = failure();
        assertEquals(FailureKind.UNAVAILABLE, failure.kind());
        assertTrue(failure.getMessage().contains(daemon.url().argument()), failure.getMessage());
    }

    @Test
    void aSilentDaemonTimesOut() {
        McpRegistration registration = register();
        daemon.silent = true;
        RelayException failure = assertThrows(
                RelayException.class, () -> registration.session().request(new SessionPayload.Release(), 50));
        assertEquals(FailureKind.TIMEOUT, failure.kind());
        FakeDaemon.await("the end", () -> heard.ends == 1);
    }

    @Test
    void retriesUntilTheDaemonIsThere() {
        int port = daemon.url().port();
        daemon.close();
        FakeDaemon[] later = new FakeDaemon[1];
        int[] attempts = new int[1];
        McpRegistration registration = RetryPolicy.mcp(RetryPolicy.deadline(), limit -> {
            if (++attempts[0] == 2) {
                later[0] = again(port);
            }
            return register(limit);
        });
        assertEquals(2, attempts[0]);
        assertTrue(registration.session().connected());
        later[0].close();
    }

    private FakeDaemon again(int port) {
        try {
            return new FakeDaemon(temp.resolve("daemon"), port);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void case96ARejectedCredentialIsNotRetried() {
        daemon.refusal = Optional.of(new ServerEvent.Reply(
                "", 401, new ReplyBody.Failure("no", Optional.of(ReplyBody.Failure.CREDENTIAL_REJECTED))));
        assertThrows(RelayException.class, () -> RetryPolicy.mcp(RetryPolicy.deadline(), this::register));
        assertEquals(1, daemon.registrations());
    }

    @Test
    void case96A401WithoutTheCodeIsRetried() {
        daemon.refusal =
                Optional.of(new ServerEvent.Reply("", 401, new ReplyBody.Failure("not now", Optional.empty())));
        McpRegistration registration = RetryPolicy.mcp(RetryPolicy.deadline(), limit -> {
            try {
                return register(limit);
            } finally {
                daemon.refusal = Optional.empty();
            }
        });
        assertTrue(registration.session().connected());
        assertEquals(2, daemon.registrations());
    }

    /** A daemon that takes connections and says nothing: the last attempt ends with the budget and not 5 s later. */
    @Test
    void anAttemptThatFailsLateDoesNotExtendTheBudget() {
        daemon.silent = true;
        long start = System.nanoTime();
        long budget = start + 1_500_000_000L;
        assertThrows(RelayException.class, () -> RetryPolicy.mcp(budget, this::register));
        long took = (System.nanoTime() - start) / 1_000_000;
        assertTrue(took >= 1_400 && took < 4_500, took + " ms");
    }

    @Test
    void theFilesOfAUserAreInItsFolder() {
        register();
        assertTrue(Files.exists(temp.resolve("user/daemon/machine-identity.pk8")));
        assertTrue(Files.exists(temp.resolve("user/daemon/pins")));
    }

    private void assertRefused(int status, Optional<String> code, FailureKind kind) {
        daemon.refusal = Optional.of(new ServerEvent.Reply("", status, new ReplyBody.Failure("no", code)));
        assertEquals(kind, failure().kind());
    }

    private RelayException failure() {
        return assertThrows(RelayException.class, this::register);
    }

    private static final class Heard implements ControlListener {
        final List<Directive> directives = new CopyOnWriteArrayList<>();
        final List<ServerEvent.Drain> drains = new CopyOnWriteArrayList<>();
        volatile int ends;
        /** What hearing a directive waits for. */
        volatile CountDownLatch standstill = new CountDownLatch(0);

        @Override
        public boolean directive(Directive directive) {
            directives.add(directive);
            try {
                return standstill.await(60, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                return false;
            }
        }

        @Override
        public void drain(ServerEvent.Drain drain) {
            drains.add(drain);
        }

        @Override
        public synchronized void disconnected() {
            ends++;
        }
    }
}
