package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.control.ActivationFailure;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;

/** What a control socket refuses though all but one thing about it is right, and what it answers (relay-daemon 3.5, 3.8). */
class ControlRefusalsTest extends WithFramePeers {
    private static final SessionPayload CANCEL = new SessionPayload.CancelActivation("none");
    private static final int TEXT = 1;
    private static final int CONTINUATION = 0;
    private static final int PING = 9;

    /** With a grant that is right, under a proof that is right for the socket that it came on. */
    @Test
    void aWorkerDoesNotRegisterOnTheSocketOfAnMcpSession() throws IOException {
        FramePeer session = mcp().registered();
        FramePeer wrong = mcp(session.key).challenged();
        assertEquals(401, wrong.status(wrong.registerWorker(data.url(), session.launch.orElseThrow())));
        staged(session);
    }

    @Test
    void aSocketHasOneChallenge() throws IOException {
        FramePeer peer = mcp().challenged();
        assertEquals(401, peer.status(peer.newChallenge()));
        assertEquals(200, peer.status(peer.registerMcp()), "the first one holds");
    }

    @Test
    void aWorkerRegistersUnderTheIdThatItsProofNames() throws IOException {
        FramePeer session = mcp().registered();
        FramePeer wrong = worker(session.key).challenged();
        String proven = wrong.id;
        wrong.id = session.id;
        assertEquals(401, wrong.status(wrong.registerWorker(data.url(), session.launch.orElseThrow())));
        FramePeer right = worker(session.key);
        right.id = proven;
        right.registered(data.url(), session.launch.orElseThrow());
    }

    /** A client on another machine ends a connection on which that does not come. */
    @Test
    void aPingIsAnswered() throws IOException {
        FramePeer peer = settled();
        peer.socket.send(PING, true, new byte[] {1, 2, 3});
        assertEquals(RawControl.Event.Kind.PONG, peer.socket.reply(20_000).kind());
    }

    @Test
    void noCommandsOfTheOtherRoleAreTakenAndTheyDoNotCount() throws IOException {
        FramePeer session = mcp().registered();
        FramePeer worker = staged(session);
        assertEquals(401, session.status(session.session(new SessionPayload.ReportPlugins(List.of(), List.of()))));
        assertEquals(401, session.status(session.session(new SessionPayload.Leave())));
        assertEquals(401, session.status(session.session(new SessionPayload.Ready(session.id))));
        assertEquals(200, session.status(session.session(CANCEL)));
        assertEquals(401, worker.status(worker.session(new SessionPayload.Release())));
        assertEquals(401, worker.status(worker.session(CANCEL)));
        assertEquals(
                401,
                worker.status(worker.session(new SessionPayload.ActivationFailed(
                        session.launch.orElseThrow().activationId(), ActivationFailure.EXITED_BEFORE_READY))));
        assertEquals(204, worker.status(worker.session(new SessionPayload.Ready(worker.id))));
    }

    @Test
    void anActivationWithoutAnIdIsRefused() throws IOException {
        FramePeer session = mcp().registered();
        assertEquals(400, session.status(session.session(new SessionPayload.CancelActivation(""))));
        assertEquals(
                400,
                session.status(session.session(
                        new SessionPayload.ActivationFailed("", ActivationFailure.EXITED_BEFORE_READY))));
        assertEquals(200, session.status(session.session(CANCEL)));
    }

    /** What the socket before had as its last command is no command of this one, whatever its number. */
    @Test
    void aNewSocketTakesNoRepetitionOfTheOneBefore() throws IOException {
        TestDaemon.User ann = daemon.user("ann");
        try (RawPeer first = new RawPeer(daemon, daemon.url(), ann, "a")) {
            assertEquals(200, first.status("inner", 1, CANCEL));
            try (RawPeer second = new RawPeer(daemon, daemon.url(), ann, "a")) {
                assertEquals(409, second.status("inner", 0, CANCEL));
                assertEquals(200, second.status("inner", 1, CANCEL));
            }
        }
    }

    @Test
    void aCommandThatIsRepeatedBeforeItsReplyDoesNotGetTheOneBefore() throws IOException {
        FramePeer session = mcp().registered();
        FramePeer worker = staged(session);
        CountDownLatch probe = new CountDownLatch(1);
        data.ready = probe::await;
        String ready = FramePeer.encode(worker.session(new SessionPayload.Ready(worker.id)));
        worker.socket.send(ready);
        TestDaemon.await("the probe is under way", () -> data.seen.size() == 1);
        worker.socket.send(ready);
        assertEquals(409, worker.status(new ClientCommand.Acknowledge("nothing")));
        probe.countDown();
        assertEquals(
                204,
                ((ServerEvent.Reply) FrameCodec.decodeEvent(
                                worker.socket.reply(20_000).text()))
                        .status());
    }

    @Test
    void fragmentsThatGrowTooLargeEndTheSocket() throws IOException {
        FramePeer peer = settled();
        byte[] part = new byte[FrameCodec.MAX_FRAME / 2 + 1];
        peer.socket.send(TEXT, false, part);
        peer.socket.send(CONTINUATION, false, part);
        ended(peer);
    }

    @Test
    void textThatIsNotUtf8EndsTheSocket() throws IOException {
        FramePeer peer = settled();
        peer.socket.send(TEXT, true, new byte[] {'{', (byte) 0xff, '}'});
        ended(peer);
    }

    /** A session that owes nothing, so that no timer ends it. */
    private FramePeer settled() throws IOException {
        FramePeer peer = mcp().registered();
        assertEquals(200, peer.status(peer.session(CANCEL)));
        return peer;
    }

    private void ended(FramePeer peer) {
        RawControl.Event event = peer.socket.next(20_000);
        while (event.kind() == RawControl.Event.Kind.TEXT) {
            event = peer.socket.next(20_000);
        }
        assertEquals(RawControl.Event.Kind.CLOSED, event.kind());
        TestDaemon.await(
                () -> daemon.events.toString(),
                () -> daemon.events.stream()
                        .anyMatch(line ->
                                line.startsWith("mcp_control_disconnected") && line.contains("malformed_request")));
    }
}
