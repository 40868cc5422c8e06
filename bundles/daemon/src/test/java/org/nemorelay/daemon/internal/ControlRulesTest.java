package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.DatagramSocket;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SessionRequest;

/** Numbers, acknowledgements, replacement and queues of a control socket (relay-daemon 3.5, 3.8). */
@Timeout(200)
class ControlRulesTest {
    private static final SessionPayload CANCEL = new SessionPayload.CancelActivation("nobody's");

    private TestDaemon daemon;
    private TestDaemon.User ann;

    @BeforeEach
    void start() throws IOException {
        daemon = new TestDaemon().start();
        ann = daemon.user("ann");
    }

    @AfterEach
    void stop() throws IOException {
        daemon.close();
    }

    private RawPeer peer(String id) throws IOException {
        return new RawPeer(daemon, daemon.url(), ann, id);
    }

    @Test
    void case62SequencesReplayAndSecrets() throws IOException {
        try (RawPeer peer = peer("a")) {
            assertEquals(409, peer.status("first", 2, CANCEL), "the first is 1");
            assertEquals(200, peer.status("first", 1, CANCEL));
            assertEquals(200, peer.status("first", 1, CANCEL), "the same again");
            assertEquals(409, peer.status("other", 1, CANCEL), "another under the same number");
            assertEquals(409, peer.status("third", 3, CANCEL), "a gap");
            assertEquals(401, peer.status("", 2, CANCEL), "no inner id");
            assertEquals(401, peer.status("x".repeat(129), 2, CANCEL), "129 bytes");
            assertEquals(
                    401,
                    peer.status(SessionRequest.of("a", new Secret("AAAA"), "second", 2, CANCEL)),
                    "another secret");
            assertEquals(401, peer.status(SessionRequest.of("b", peer.token, "second", 2, CANCEL)), "another session");
            SessionRequest altered =
                    new SessionRequest("a", peer.token, "second", 2, new SessionPayload.Release().sha256(), CANCEL);
            assertEquals(401, peer.status(altered), "a hash of something else");
            assertEquals(200, peer.status("second", 2, CANCEL), "what was refused did not count");
        }
    }

    /** Under the outer id of the last command: the same text gets the same reply, another text ends the connection. */
    @Test
    void theLastCommandMayBeSentAgainAndNoOtherUnderItsId() throws IOException {
        try (RawPeer peer = peer("a")) {
            String first = FrameCodec.encode(new CommandFrame(
                    "outer", new ClientCommand.Session(SessionRequest.of("a", peer.token, "inner", 1, CANCEL))));
            peer.sendText(first);
            ServerEvent.Reply reply = peer.reply();
            assertEquals(200, reply.status());
            peer.sendText(first);
            assertEquals(reply, peer.reply());
            assertEquals(200, peer.status("second", 2, CANCEL));
            // Only the last reply is kept: this one is a command again, out of its sequence by now.
            peer.sendText(first);
            assertEquals(409, peer.reply().status());
            peer.sendText(FrameCodec.encode(new CommandFrame("outer", new ClientCommand.Acknowledge("another"))));
            peer.awaitClosed();
            TestDaemon.await(
                    "the reason is logged",
                    () -> daemon.events.stream()
                            .anyMatch(event -> event.startsWith("mcp_control_disconnected")
                                    && event.contains("request_id_reused")));
        }
    }

    @Test
    void case47TheHintDecidesWhereAWorkerListens() throws IOException {
        try (RawPeer local = new RawPeer(daemon, daemon.url(), ann, "a", "localhost", OptionalInt.empty());
                RawPeer remote =
                        new RawPeer(daemon, daemon.url(), daemon.user("bob"), "b", "192.0.2.9", OptionalInt.of(4711))) {
            LaunchGrant loopback = ((Directive.LaunchWorker) local.first).grant();
            assertEquals("127.0.0.1", loopback.bindIp());
            assertEquals(Optional.empty(), loopback.advertiseAddress());
            assertEquals(0, loopback.port());
            LaunchGrant everywhere = ((Directive.LaunchWorker) remote.first).grant();
            assertEquals("0.0.0.0", everywhere.bindIp());
            assertEquals(Optional.of("192.0.2.9"), everywhere.advertiseAddress());
            assertEquals(4711, everywhere.port());
        }
    }

    @Test
    void aNewSocketBeginsAtOneAndKeepsTheSecret() throws IOException {
        try (RawPeer first = peer("a")) {
            assertEquals(200, first.status("1", 1, CANCEL));
            try (RawPeer second = peer("a")) {
                assertEquals(first.token, second.token, "case 60");
                assertEquals(409, second.status("2", 2, CANCEL));
                assertEquals(200, second.status("2", 1, CANCEL));
                first.awaitClosed();
                // case 85: the end of the first is not the end of the session.
                assertEquals(200, second.status("3", 2, CANCEL));
                assertTrue(daemon.events.stream().noneMatch(event -> event.startsWith("mcp_control_disconnected")));
            }
        }
    }

    @Test
    void anEventIsAcknowledgedOnceOrAgainAndNoOther() throws IOException {
        try (RawPeer peer = peer("a")) {
            ServerEvent.DirectiveIssued event = assertInstanceOf(
                    ServerEvent.DirectiveIssued.class, peer.next().orElseThrow());
            assertEquals(409, peer.acknowledge("another"));
            assertEquals(204, peer.acknowledge(event.requestId()));
            assertEquals(204, peer.acknowledge(event.requestId()), "the last one again");
            assertEquals(409, peer.acknowledge("another"));
        }
    }

    @Test
    void anEventThatIsNotAcknowledgedWithinFiveSecondsEndsTheSocket() throws IOException {
        try (RawPeer peer = peer("a")) {
            long start = System.nanoTime();
            peer.awaitClosed();
            long elapsed = (System.nanoTime() - start) / 1_000_000;
            assertTrue(elapsed >= 4_500 && elapsed < 15_000, elapsed + " ms");
            TestDaemon.await(
                    "the reason is logged",
                    () -> daemon.events.stream()
                            .anyMatch(event -> event.startsWith("mcp_control_disconnected")
                                    && event.contains("acknowledgement_timeout")));
        }
    }

    @Test
    void case88ADrainIsSentAgainToTheNextSocketWithWhatIsLeft() throws Exception {
        try (FakeServer data = new FakeServer("worker")) {
            TestDaemon.Mcp mcp = ann.mcp();
            TestDaemon.Worker worker = daemon.new Worker(ann, data);
            worker.register(((Directive.LaunchWorker) mcp.first).grant()).ready();
            mcp.release();
            ServerEvent.Drain first = worker.drains.take();
            worker.recover();
            ServerEvent.Drain second = worker.drains.take();
            assertEquals(worker.id, second.workerId());
            assertTrue(second.timeoutMs() <= first.timeoutMs(), first + " " + second);
            assertThrows(
                    org.nemorelay.protocol.RelayException.class, worker::ready, "a draining worker is never ready");
        }
    }

    /** Replies that nobody reads: first the network's buffers fill, then the queue of 1,024. */
    @Test
    void case90ASlowConsumerIsDropped() throws IOException {
        try (RawPeer peer = peer("a")) {
            peer.acknowledge(((ServerEvent.DirectiveIssued) peer.next().orElseThrow()).requestId());
            String frame =
                    FrameCodec.encode(new CommandFrame("repeated", new ClientCommand.Acknowledge("x".repeat(100))));
            long deadline = System.nanoTime() + 60_000_000_000L;
            assertThrows(IOException.class, () -> {
                // The same frame gets the same reply each time.
                while (System.nanoTime() < deadline) {
                    peer.sendText(frame);
                }
            });
            TestDaemon.await(
                    "the reason is logged",
                    () -> daemon.events.stream()
                            .anyMatch(event -> event.startsWith("mcp_control_disconnected")
                                    && event.contains("outbound_queue_full")));
        }
    }

    @Test
    void aPeerThatSendsWithoutWaitingWaitsInItsOwnBuffers() throws Exception {
        flood(10_000);
    }

    @Test
    @Tag("long")
    void aPeerThatSendsAHundredThousandFramesWaitsInItsOwnBuffers() throws Exception {
        flood(100_000);
    }

    /**
     * The queue of what a peer sends is one frame long: the next is read when that one's work is done. So it never overflows,
     * every frame is answered in its turn, nothing piles up on the heap, and others are answered meanwhile.
     */
    private void flood(int frames) throws Exception {
        try (RawPeer peer = peer("a");
                RawPeer other = new RawPeer(daemon, daemon.url(), daemon.user("bob"), "b")) {
            peer.acknowledge(((ServerEvent.DirectiveIssued) peer.next().orElseThrow()).requestId());
            other.acknowledge(((ServerEvent.DirectiveIssued) other.next().orElseThrow()).requestId());
            System.gc();
            long before =
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
            Thread sender = Thread.ofPlatform().daemon().start(() -> {
                try {
                    for (int i = 0; i < frames; i++) {
                        peer.sendText(FrameCodec.encode(
                                new CommandFrame("r" + i, new ClientCommand.Acknowledge("x".repeat(100)))));
                    }
                } catch (IOException e) {
                    // The reading side tells.
                }
            });
            for (int i = 0; i < frames; i++) {
                ServerEvent.Reply reply =
                        assertInstanceOf(ServerEvent.Reply.class, peer.next().orElseThrow());
                assertEquals("r" + i, reply.requestId());
                assertEquals(409, reply.status());
                if (i % (frames / 10) == 0) {
                    assertEquals(409, other.acknowledge("another"));
                }
            }
            sender.join();
            System.gc();
            long grown =
                    ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() - before;
            assertTrue(grown < 16 << 20, "the heap has grown by " + grown + " bytes");
        }
    }

    /** A peer of another machine is asked after 30 s and has 10 s; one on loopback is left alone. */
    @Test
    @Tag("long")
    void case91AndCase84OnlyARemotePeerIsAskedWhetherItIsThere() throws Exception {
        String own = ownAddress();
        Assumptions.assumeTrue(!own.startsWith("127.") && !own.equals("0.0.0.0"), "no address but loopback");
        daemon.close();
        daemon = new TestDaemon().with("bind", "0.0.0.0").with("advertise_address", "https://relay.example:1");
        daemon.start();
        ann = daemon.user("ann");
        int port = daemon.events.stream()
                .filter(event -> event.startsWith("daemon_listening"))
                .map(event -> event.replaceAll(".*0\\.0\\.0\\.0:(\\d+).*", "$1"))
                .map(Integer::parseInt)
                .findFirst()
                .orElseThrow();
        try (RawPeer local = new RawPeer(daemon, new DaemonUrl(false, "127.0.0.1", port), ann, "local");
                RawPeer remote = new RawPeer(daemon, new DaemonUrl(false, own, port), ann, "remote")) {
            for (RawPeer peer : new RawPeer[] {local, remote}) {
                ServerEvent.DirectiveIssued event =
                        (ServerEvent.DirectiveIssued) peer.next().orElseThrow();
                assertEquals(204, peer.acknowledge(event.requestId()));
            }
            // Neither reads from here on, so that no ping is answered.
            Thread.sleep(45_000);
            assertTrue(
                    daemon.events.stream()
                            .anyMatch(event -> event.startsWith("mcp_control_disconnected")
                                    && event.contains("remote")
                                    && event.contains("pong_timeout")),
                    daemon.events::toString);
            assertEquals(200, local.status("1", 1, CANCEL), "idle and alive");
            assertEquals(
                    Optional.empty(),
                    daemon.events.stream()
                            .filter(event -> event.startsWith("mcp_control_disconnected") && event.contains("local"))
                            .findFirst());
        }
    }

    @Test
    @Tag("long")
    void case84AnIdleSocketOnLoopbackLivesOn() throws Exception {
        try (FramePeer idle = FramePeer.mcp(daemon).registered()) {
            assertEquals(RawControl.Event.Kind.NOTHING, idle.socket.reply(1_000).kind(), "all is acknowledged");
            assertEquals(
                    RawControl.Event.Kind.NOTHING, idle.socket.reply(125_000).kind());
            assertEquals(204, idle.status(idle.session(new SessionPayload.Release())));
        }
    }

    /** The proxy is on loopback and its client is not: that one may vanish without a word. */
    @Test
    @Tag("long")
    void aPeerBehindATrustedProxyIsAskedWhetherItIsThere() throws Exception {
        daemon.close();
        daemon = new TestDaemon().with("trusted_proxies", "127.0.0.1").start();
        try (FramePeer local = FramePeer.mcp(daemon).registered();
                FramePeer proxied = FramePeer.behindProxy(daemon, "192.0.2.7").registered()) {
            // Acknowledges what it was told.
            assertEquals(
                    RawControl.Event.Kind.NOTHING, local.socket.reply(1_000).kind());
            assertEquals(
                    RawControl.Event.Kind.PING, proxied.socket.reply(40_000).kind());
            assertEquals(
                    RawControl.Event.Kind.CLOSED, proxied.socket.reply(15_000).kind(), "without a pong");
            assertEquals(
                    RawControl.Event.Kind.NOTHING, local.socket.reply(1_000).kind());
        }
    }

    private static String ownAddress() throws IOException {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress("192.0.2.1", 9));
            return socket.getLocalAddress() instanceof Inet4Address address ? address.getHostAddress() : "127.0.0.1";
        } catch (IOException | java.io.UncheckedIOException e) {
            return "127.0.0.1";
        }
    }
}
