package org.nemorelay.daemon.internal;

import java.io.IOException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.nemorelay.control.internal.WebSocket;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.ControlPaths;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.Proof;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SessionRequest;
import org.nemorelay.protocol.control.SignedTranscript;
import org.nemorelay.protocol.control.Transcript;
import org.nemorelay.protocol.control.WorkerNetwork;

/** An MCP session frame by frame: nothing is acknowledged, numbered or read unless the test does it. */
final class RawPeer implements AutoCloseable {
    private static final long CONNECT_NANOS = 10_000_000_000L;

    final String id;
    final Secret token;
    private final TestDaemon daemon;
    private final WebSocket socket;

    final Directive first;

    RawPeer(TestDaemon daemon, DaemonUrl url, TestDaemon.User user, String id) throws IOException {
        this(daemon, url, user, id, "127.0.0.1", OptionalInt.empty());
    }

    /** Connects to this address of the daemon and registers, with a hint where its worker would be. */
    RawPeer(TestDaemon daemon, DaemonUrl url, TestDaemon.User user, String id, String host, OptionalInt port)
            throws IOException {
        this.daemon = daemon;
        this.id = id;
        socket = WebSocket.open(
                url, ControlPaths.MCP, daemon.ids, new ClientTls(Map.of()), System.nanoTime() + CONNECT_NANOS);
        ClientCommand.Challenge challenge = new ClientCommand.Challenge(
                Descriptor.ours(Role.MCP), id, user.key.publicKey(), user.key.fingerprint(), daemon.ids.octets(32));
        send(challenge);
        ReplyBody.ChallengeIssued issued = (ReplyBody.ChallengeIssued) reply().body();
        Transcript transcript =
                Transcript.of(daemon.url().origin(), challenge, issued, 1, Optional.of(user.token.digest()));
        send(new ClientCommand.RegisterMcp(
                new SignedTranscript(transcript, Proof.of(Role.MCP, user.key, transcript)),
                WorkerNetwork.sign(host, port, user.key, transcript),
                new Secret(user.token.text())));
        ReplyBody.McpRegistered registered = (ReplyBody.McpRegistered) reply().body();
        token = registered.sessionToken();
        first = registered.directive();
    }

    /** Sends a command under a request id of its own, which is returned. */
    String send(ClientCommand command) throws IOException {
        String requestId = daemon.ids.uuid7();
        sendText(FrameCodec.encode(new CommandFrame(requestId, command)));
        return requestId;
    }

    void sendText(String text) throws IOException {
        socket.send(text);
    }

    /** The status that a session's command gets. */
    int status(String innerId, long sequence, SessionPayload payload) throws IOException {
        return status(SessionRequest.of(id, token, innerId, sequence, payload));
    }

    int status(SessionRequest request) throws IOException {
        send(new ClientCommand.Session(request));
        return reply().status();
    }

    int acknowledge(String event) throws IOException {
        send(new ClientCommand.Acknowledge(event));
        return reply().status();
    }

    /** The next reply; events before it are passed over. */
    ServerEvent.Reply reply() throws IOException {
        while (true) {
            if (next().orElseThrow() instanceof ServerEvent.Reply reply) {
                return reply;
            }
        }
    }

    /** The next event, or nothing when the daemon closed. */
    Optional<ServerEvent> next() throws IOException {
        return socket.read().map(text -> {
            try {
                return FrameCodec.decodeEvent(text);
            } catch (org.nemorelay.protocol.control.FrameException e) {
                throw new AssertionError(text, e);
            }
        });
    }

    /** Reads on until the daemon closes. */
    void awaitClosed() {
        try {
            while (next().isPresent()) {
                // What was on its way.
            }
        } catch (IOException e) {
            // Closed, too.
        }
    }

    @Override
    public void close() {
        socket.close();
    }
}
