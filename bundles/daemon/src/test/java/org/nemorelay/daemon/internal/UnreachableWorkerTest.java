package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.ServerEvent;

/** A worker that the daemon does not reach: its log and the user's own sessions are told where, and why not. */
class UnreachableWorkerTest {
    private TestDaemon daemon;
    private FakeServer data;

    @BeforeEach
    void start() throws IOException {
        daemon = new TestDaemon().start();
        data = new FakeServer("worker");
    }

    @AfterEach
    void stop() throws IOException {
        daemon.close();
        data.close();
    }

    private void unreachable(TestDaemon.User user, TestDaemon.Mcp mcp, String endpoint, String reason)
            throws Exception {
        try (TestDaemon.Worker worker = daemon.new Worker(user, data)) {
            worker.register(mcp.await(Directive.LaunchWorker.class).grant(), endpoint, Optional.empty());
            assertThrows(RelayException.class, worker::ready);
            ServerEvent.WorkerUnreachable told = mcp.unreachable.poll(20, TimeUnit.SECONDS);
            assertEquals(endpoint, told.endpoint());
            assertEquals(reason, told.reason());
            TestDaemon.await(
                    () -> daemon.events.toString(),
                    () -> daemon.events.stream()
                            .anyMatch(line -> line.startsWith("worker_readiness_failed ")
                                    && line.contains("endpoint, " + endpoint + ", reason, " + reason + ", ")));
        }
    }

    @Test
    void whereNobodyListens() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        TestDaemon.User ann = daemon.user("ann");
        unreachable(ann, ann.mcp(), "http://127.0.0.1:" + port, "Connection refused");
    }

    @Test
    void whoDoesNotAnswerOrAnswersSomethingElseAndOnlyItsUserIsTold() throws Exception {
        TestDaemon.User ann = daemon.user("ann");
        TestDaemon.User bob = daemon.user("bob");
        TestDaemon.Mcp others = bob.mcp();
        TestDaemon.Mcp mcp = ann.mcp();
        data.readyStatus = 503;
        unreachable(ann, mcp, data.url(), "it answered with status 503");
        data.ready = () -> Thread.sleep(60_000);
        unreachable(ann, mcp, data.url(), "it did not answer within 2 s");
        assertTrue(others.unreachable.isEmpty(), others.unreachable::toString);
    }
}
