package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.protocol.control.ActivationFailure;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.SessionPayload;

/**
 * Why control sockets end, one by one, and that the log says so (relay-daemon 3.8). Of the reasons there, these have tests
 * elsewhere: {@code pong_timeout} (ControlRulesTest), {@code unsupported_frame} and {@code invalid_request_id} of a socket
 * that is no session (ControlSocketTest). Four have no way here: an event is text before it is sent, so
 * {@code event_serialization_failed} and {@code reply_*} cannot happen, none comes near the limit of a frame
 * ({@code event_too_large}), and acknowledgements have no queue ({@code acknowledgement_queue_full}).
 */
@Timeout(120)
class CloseReasonsTest extends WithFramePeers {
    /** As many as the queue has room for, and some less. */
    private static final int BATCH = 900;

    private FramePeer session() throws IOException {
        return mcp().registered();
    }

    /** What the log says of the end of the only connection of that kind that ended. */
    private void assertTold(String event, String reason) {
        TestDaemon.await(
                () -> event + " with " + reason + " in " + daemon.events,
                () -> daemon.events.stream().anyMatch(line -> line.startsWith(event + " ")));
        List<String> told = daemon.events.stream()
                .filter(line -> line.startsWith(event + " "))
                .toList();
        assertEquals(1, told.size(), told::toString);
        assertTrue(told.getFirst().contains("reason, " + reason + ","), told::toString);
    }

    @Test
    void authenticationTimeout() throws IOException {
        FramePeer stranger = mcp();
        long begun = System.nanoTime();
        assertEquals(RawControl.Event.Kind.CLOSED, stranger.socket.next(60_000).kind());
        assertTrue(System.nanoTime() - begun >= 4_900_000_000L);
        assertTold("control_connection_dropped", "authentication_timeout");
    }

    @Test
    void peerClosed() throws IOException {
        session().socket.send(RawControl.CLOSE, true, new byte[] {3, (byte) 0xe8});
        assertTold("mcp_control_disconnected", "peer_closed");
    }

    @Test
    void socketReadFailed() throws IOException {
        session().socket.reset();
        assertTold("mcp_control_disconnected", "socket_read_failed");
    }

    @Test
    void malformedRequest() throws IOException {
        session().socket.send("garbage");
        assertTold("mcp_control_disconnected", "malformed_request");
    }

    @Test
    void malformedFragments() throws IOException {
        RawControl socket = session().socket;
        socket.send(RawControl.TEXT, false, new byte[200_000]);
        socket.send(RawControl.CONTINUATION, true, new byte[200_000]);
        assertTold("mcp_control_disconnected", "malformed_request");
    }

    @Test
    void invalidRequestId() throws IOException {
        session().socket.send(FrameCodec.encode(new CommandFrame("x".repeat(129), new ClientCommand.Acknowledge("x"))));
        assertTold("mcp_control_disconnected", "invalid_request_id");
    }

    @Test
    void unsupportedFrame() throws IOException {
        session().socket.send(2, true, new byte[] {1});
        assertTold("mcp_control_disconnected", "unsupported_frame");
    }

    @Test
    void connectionReplaced() throws IOException {
        FramePeer first = session();
        FramePeer second = mcp(first.key);
        second.id = first.id;
        second.token = first.token;
        second.registered();
        assertEquals(RawControl.Event.Kind.CLOSED, first.socket.reply(60_000).kind());
        second.socket.send("garbage");
        // The session has one end, that of its last socket.
        assertTold("mcp_control_disconnected", "malformed_request");
    }

    @Test
    void activationCancelled() throws IOException {
        FramePeer session = session();
        FramePeer worker = staged(session);
        assertEquals(
                200,
                session.status(session.session(new SessionPayload.CancelActivation(
                        session.launch.orElseThrow().activationId()))));
        assertEquals(RawControl.Event.Kind.CLOSED, worker.socket.reply(60_000).kind());
        assertTold("worker_control_disconnected", "activation_cancelled");
    }

    @Test
    void activationFailed() throws IOException {
        FramePeer session = session();
        FramePeer worker = staged(session);
        assertEquals(
                204,
                session.status(session.session(new SessionPayload.ActivationFailed(
                        session.launch.orElseThrow().activationId(), ActivationFailure.EXITED_BEFORE_READY))));
        assertEquals(RawControl.Event.Kind.CLOSED, worker.socket.reply(60_000).kind());
        assertTold("worker_control_disconnected", "activation_failed");
    }

    /** A worker that returned after a restart and never says that it is ready. */
    @Test
    @Tag("long")
    void activationExpired() throws IOException {
        FramePeer session = session();
        FramePeer worker = staged(session);
        assertEquals(204, worker.status(worker.session(new SessionPayload.Ready(worker.id))));
        daemon.restart();
        daemon.events.clear();
        FramePeer back = mcp(session.key);
        back.id = session.id;
        back.token = session.token;
        back.registered();
        FramePeer again = worker(worker.key);
        again.id = worker.id;
        again.challenged();
        assertEquals(
                200,
                again.status(new ClientCommand.RecoverWorker(
                        again.proof(),
                        again.id,
                        data.url(),
                        java.util.Optional.empty(),
                        worker.generation.orElseThrow())));
        Thread keeping = Thread.ofPlatform().daemon().start(() -> back.socket.reply(60_000));
        assertEquals(RawControl.Event.Kind.CLOSED, again.socket.reply(60_000).kind());
        assertTold("worker_control_disconnected", "activation_expired");
        keeping.interrupt();
    }

    @Test
    void workerCommunicationFailed() throws IOException {
        FramePeer session = session();
        FramePeer worker = staged(session);
        assertEquals(204, worker.status(worker.session(new SessionPayload.Ready(worker.id))));
        data.close();
        String request = RawHttp.post("/v1/messages", "{}", "x-nemo-relay-client-token: " + session.token.text());
        assertEquals(502, RawHttp.once(daemon.port(), request).status());
        assertEquals(RawControl.Event.Kind.CLOSED, worker.socket.reply(60_000).kind());
        assertTold("worker_control_disconnected", "worker_communication_failed");
    }

    /** A peer that reads nothing, with fewer frames on their way to it than the queue may hold. */
    @Test
    void socketWriteFailed() throws Exception {
        FramePeer session = session();
        assertEquals(RawControl.Event.Kind.NOTHING, session.socket.reply(200).kind(), "all is acknowledged");
        FramePeer worker = worker(session.key).challenged();
        String frame = FramePeer.encode(worker.registerWorker(data.url(), session.launch.orElseThrow()));
        worker.socket.send(frame);
        int reply = worker.socket.reply(20_000).text().length();
        long begun = System.nanoTime();
        stuff(worker.socket, frame, reply);
        TestDaemon.await(
                () -> daemon.events.toString(),
                () -> daemon.events.stream().anyMatch(line -> line.startsWith("worker_control_disconnected")));
        assertTrue(System.nanoTime() - begun >= 5_000_000_000L, "not before 5 s");
        assertTold("worker_control_disconnected", "socket_write_failed");
    }

    /** Sends the same frame, which gets the same reply each time, until the network takes no more replies. */
    private void stuff(RawControl socket, String frame, int reply) throws Exception {
        long before;
        do {
            before = underway(socket.port());
            for (int i = 0; i < BATCH; i++) {
                socket.send(frame);
            }
        } while (underway(socket.port()) - before >= BATCH * reply);
    }

    /** Bytes from the daemon that this peer has not read, when nothing moves any more. */
    private long underway(int port) throws Exception {
        long last = -1;
        for (int same = 0; same < 5; ) {
            Thread.sleep(20);
            long[] queues = queues(port);
            same = queues[0] == 0 && queues[1] == last ? same + 1 : 0;
            last = queues[1];
        }
        return last;
    }

    /** What is on its way to the daemon, and what is on its way to the peer. */
    private long[] queues(int port) throws IOException {
        long[] queues = new long[2];
        for (String table : List.of("tcp", "tcp6")) {
            for (String line : Files.readAllLines(Path.of("/proc/self/net", table))) {
                String[] columns = line.strip().split("\\s+");
                boolean out = endsIn(columns[1], port) && endsIn(columns[2], daemon.port());
                boolean in = endsIn(columns[2], port) && endsIn(columns[1], daemon.port());
                if (out || in) {
                    String[] sizes = columns[4].split(":");
                    queues[out ? 0 : 1] += Long.parseLong(sizes[0], 16);
                    queues[out ? 1 : 0] += Long.parseLong(sizes[1], 16);
                }
            }
        }
        return queues;
    }

    private static boolean endsIn(String address, int port) {
        return address.endsWith(String.format(":%04X", port));
    }
}
