package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.protocol.control.ActivationFailure;
import org.nemorelay.protocol.control.CancelOutcome;
import org.nemorelay.protocol.control.ControlPaths;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.SessionPayload;

/** Rules of the control sockets, by frames as a peer sends them. */
class ControlSocketTest {
    private TestDaemon daemon;

    @BeforeEach
    void start() throws IOException {
        daemon = new TestDaemon().start();
    }

    @AfterEach
    void stop() throws IOException {
        daemon.close();
    }

    /** Text frames in, or "closed". */
    private static final class Raw implements WebSocket.Listener {
        final BlockingQueue<String> in = new LinkedBlockingQueue<>();

        @Override
        public CompletionStage<?> onText(WebSocket socket, CharSequence text, boolean last) {
            in.add(text.toString());
            socket.request(1);
            return null;
        }

        @Override
        public CompletionStage<?> onClose(WebSocket socket, int status, String reason) {
            in.add("closed");
            return null;
        }

        @Override
        public void onError(WebSocket socket, Throwable failure) {
            in.add("closed");
        }

        String next() throws InterruptedException {
            String text = in.poll(20, TimeUnit.SECONDS);
            return text == null ? "nothing" : text;
        }
    }

    private WebSocket open(Raw raw) {
        return HttpClient.newHttpClient()
                .newWebSocketBuilder()
                .buildAsync(URI.create("ws://127.0.0.1:" + daemon.port() + ControlPaths.MCP), raw)
                .join();
    }

    private String answer(String frame) throws InterruptedException {
        Raw raw = new Raw();
        open(raw).sendText(frame, true);
        return raw.next();
    }

    @Test
    void case89UnauthenticatedAcknowledgeIs401AndTheSocketStays() throws InterruptedException {
        Raw raw = new Raw();
        WebSocket socket = open(raw);
        String frame =
                "{\"request_id\":\"1\",\"command\":{\"type\":\"acknowledge\",\"payload\":{\"request_id\":\"x\"}}}";
        socket.sendText(frame, true);
        String reply = raw.next();
        assertTrue(reply.contains("\"status\":401"), reply);
        socket.sendText(frame, true);
        assertEquals(reply, raw.next(), "the same frame gets the same reply");
        socket.sendText(frame.replace("\"x\"", "\"y\""), true);
        assertEquals("closed", raw.next(), "another frame under the same id");
    }

    @Test
    void case92GarbageClosesWithoutRegistering() throws InterruptedException {
        assertEquals("closed", answer("garbage"));
        assertEquals("closed", answer("{\"request_id\":\"\",\"command\":{}}"));
        assertEquals("closed", answer("{\"request_id\":\"1\",\"command\":{\"type\":\"heartbeat\",\"payload\":{}}}"));
        assertEquals("closed", answer("x".repeat(262_145)));
        Raw raw = new Raw();
        open(raw).sendBinary(ByteBuffer.wrap(new byte[] {1}), true);
        assertEquals("closed", raw.next());
        assertTrue(daemon.events.stream().noneMatch(event -> event.startsWith("mcp_added")));
        for (String reason : List.of("malformed_request", "invalid_request_id", "unsupported_frame")) {
            TestDaemon.await(
                    reason + " is told",
                    () -> daemon.events.stream()
                            .anyMatch(event -> event.startsWith("control_connection_dropped")
                                    && event.contains("mcp")
                                    && event.contains(reason)));
        }
    }

    @Test
    void case84ReleaseDropsTheReferenceAndEndsTheSession() {
        TestDaemon.Mcp mcp = daemon.user("ann").mcp();
        mcp.release();
        RelayException refused = assertThrows(RelayException.class, mcp::release);
        assertEquals(FailureKind.UNAUTHORIZED, refused.kind());
        assertTrue(daemon.events.stream()
                .anyMatch(event -> event.startsWith("mcp_removed") && event.contains("released")));
    }

    @Test
    void secondSocketOfASessionReplacesTheFirstAndKeepsTheLaunch() throws Exception {
        TestDaemon.User ann = daemon.user("ann");
        TestDaemon.Mcp mcp = ann.mcp();
        Directive.LaunchWorker first = assertInstanceOf(Directive.LaunchWorker.class, mcp.first);
        var old = mcp.session;
        mcp.register(ann.token);
        assertEquals(first, mcp.first);
        TestDaemon.await("the first socket is closed", () -> !old.connected());
        assertTrue(mcp.session.connected());
        assertEquals(
                new ReplyBody.ActivationCancelled(CancelOutcome.CANCELLED),
                mcp.session.request(
                        new SessionPayload.CancelActivation(first.grant().activationId())));
    }

    @Test
    void case42TokenOfAnotherIdentityIsRejectedWithTheCode() {
        TestDaemon.User ann = daemon.user("ann");
        ann.mcp();
        TestDaemon.User bob = daemon.user("bob");
        RelayException refused =
                assertThrows(RelayException.class, () -> daemon.new Mcp(bob, ann.token, daemon.ids.uuid7()));
        assertEquals(FailureKind.CREDENTIAL_REJECTED, refused.kind());
    }

    @Test
    void case61SessionIdOfAnotherIdentityIs401() {
        TestDaemon.Mcp mcp = daemon.user("ann").mcp();
        TestDaemon.User bob = daemon.user("bob");
        RouteToken token = bob.token;
        RelayException refused = assertThrows(RelayException.class, () -> daemon.new Mcp(bob, token, mcp.id));
        assertEquals(FailureKind.UNAUTHORIZED, refused.kind());
    }

    @Test
    void case70GrantOfAnotherOrOfNobodyIs401() throws Exception {
        TestDaemon.User ann = daemon.user("ann");
        TestDaemon.Mcp mcp = ann.mcp();
        Directive.LaunchWorker launch = mcp.await(Directive.LaunchWorker.class);
        try (FakeServer data = new FakeServer("worker")) {
            TestDaemon.User bob = daemon.user("bob");
            RelayException refused =
                    assertThrows(RelayException.class, () -> daemon.new Worker(bob, data).register(launch.grant()));
            assertEquals(FailureKind.UNAUTHORIZED, refused.kind());
            daemon.new Worker(ann, data).register(launch.grant());
            RelayException thief =
                    assertThrows(RelayException.class, () -> daemon.new Worker(ann, data).register(launch.grant()));
            assertEquals(FailureKind.UNAUTHORIZED, thief.kind());
        }
    }

    @Test
    void failedLaunchIsSharedAndRetriedAfterASecond() throws Exception {
        TestDaemon.User ann = daemon.user("ann");
        TestDaemon.Mcp mcp = ann.mcp();
        Directive.LaunchWorker launch = mcp.await(Directive.LaunchWorker.class);
        mcp.session.request(new SessionPayload.ActivationFailed(
                launch.grant().activationId(), ActivationFailure.EXITED_BEFORE_READY));
        mcp.await(Directive.UsePassThrough.class);
        Directive.LaunchWorker retry = mcp.await(Directive.LaunchWorker.class);
        assertTrue(!retry.grant().activationId().equals(launch.grant().activationId()));
    }

    private TestDaemon.Worker annsWorker(FakeServer data) throws Exception {
        TestDaemon.User ann = daemon.user("ann");
        return daemon.new Worker(ann, data)
                .register(ann.mcp().await(Directive.LaunchWorker.class).grant())
                .ready();
    }

    @Test
    void reportedPluginsShowInTheStatus() throws Exception {
        try (FakeServer data = new FakeServer("worker")) {
            TestDaemon.Worker worker = annsWorker(data);
            worker.registration
                    .session()
                    .request(new SessionPayload.ReportPlugins(
                            java.util.List.of(
                                    new PluginReport("observability", "1.0.0", "active", "p.jar", "", "optional"),
                                    new PluginReport("silent", "1.0.0", "active", "q.jar", "", ""),
                                    new PluginReport("", "", "idle", "r.txt", "", "")),
                            java.util.List.of()));
            assertEquals(
                    java.util.List.of(
                            java.util.Map.of(
                                    "worker_id", worker.id,
                                    "kind", "observability",
                                    "version", "1.0.0",
                                    "state", "active",
                                    "file", "p.jar",
                                    "reason", "",
                                    "planned", true,
                                    "required", false),
                            // It did not say whether it is planned.
                            java.util.Map.of(
                                    "worker_id", worker.id,
                                    "kind", "silent",
                                    "version", "1.0.0",
                                    "state", "active",
                                    "file", "q.jar",
                                    "reason", ""),
                            java.util.Map.of(
                                    "worker_id", worker.id,
                                    "kind", "",
                                    "version", "",
                                    "state", "idle",
                                    "file", "r.txt",
                                    "reason", "",
                                    "planned", false,
                                    "required", false)),
                    daemon.server.run(java.util.Map.of()).get("plugins"));
        }
    }

    /** A worker's log is on the standard error of somebody's agent; the administrator reads the daemon's. */
    @Test
    void whatIsNotInForceInAWorkerIsLoggedOnceByItsName() throws Exception {
        try (FakeServer data = new FakeServer("worker")) {
            TestDaemon.Worker worker = annsWorker(data);
            SessionPayload.ReportPlugins report = new SessionPayload.ReportPlugins(
                    java.util.List.of(
                            new PluginReport("calm", "1", "active", "c.jar", "holds requests", "required"),
                            new PluginReport(
                                    "p", "1", "active", "p.jar", "x.toml:3:1: bad; 1 goes on", "required", true),
                            new PluginReport("", "", "quarantined", "/etc/config.toml", "config.toml:1:1: bad", ""),
                            new PluginReport("", "", "quarantined", "/etc/plugins/q.jar", "is not a whole jar", "")),
                    java.util.List.of());
            worker.registration.session().request(report);
            worker.registration.session().request(report);
            assertEquals(
                    java.util.List.of(
                            "worker_plugin_outdated [plugin, p] x.toml:3:1: bad; 1 goes on",
                            "worker_configuration_rejected [file, /etc/config.toml] config.toml:1:1: bad",
                            "worker_plugin_quarantined [file, /etc/plugins/q.jar] is not a whole jar"),
                    daemon.events.stream()
                            .filter(event ->
                                    event.startsWith("worker_plugin_") || event.startsWith("worker_configuration_"))
                            .map(event -> event.replaceFirst("\\[fingerprint, [^,]+, worker_id, [^,]+, ", "["))
                            .toList());
        }
    }

    @Test
    void stoppedDaemonGivesTheListenerBackOnStart() {
        int port = daemon.port();
        daemon.restart();
        assertEquals(port, daemon.port());
        daemon.user("ann").mcp();
    }
}
