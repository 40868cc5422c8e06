package org.nemorelay.daemon.internal;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalInt;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.ControlPaths;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Octets;
import org.nemorelay.protocol.control.Proof;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SessionRequest;
import org.nemorelay.protocol.control.SignedTranscript;
import org.nemorelay.protocol.control.SigningKey;
import org.nemorelay.protocol.control.Transcript;
import org.nemorelay.protocol.control.WorkerNetwork;

/** A peer on one connection, frame by frame, with all that it must know to be right, and to be wrong in one point only. */
final class FramePeer implements AutoCloseable {
    private static final Ids IDS = new Ids();
    private static final int ANSWER_MS = 10_000;

    final RawControl socket;
    final SigningKey key;
    final boolean isWorker;
    String id = IDS.uuid7();
    RouteToken token = RouteToken.parse(IDS.secret().text()).orElseThrow();
    ClientCommand.Challenge challenge;
    Transcript transcript;
    Secret session = new Secret("none");
    Optional<GenerationGrant> generation = Optional.empty();
    Optional<LaunchGrant> launch = Optional.empty();
    long sequence;
    private final TestDaemon daemon;

    FramePeer(TestDaemon daemon, boolean isWorker, SigningKey key, String from) throws IOException {
        this(daemon, isWorker, key, from, "");
    }

    private FramePeer(TestDaemon daemon, boolean isWorker, SigningKey key, String from, String header)
            throws IOException {
        this.daemon = daemon;
        this.isWorker = isWorker;
        this.key = key;
        this.socket = new RawControl(daemon.port(), isWorker ? ControlPaths.WORKER : ControlPaths.MCP, from, header);
    }

    static FramePeer mcp(TestDaemon daemon) throws IOException {
        return new FramePeer(daemon, false, newKey(), "127.0.0.1");
    }

    /** One that reaches the daemon through a proxy on its machine. */
    static FramePeer behindProxy(TestDaemon daemon, String client) throws IOException {
        return new FramePeer(daemon, false, newKey(), "127.0.0.1", "x-forwarded-for: " + client);
    }

    static FramePeer worker(TestDaemon daemon, SigningKey key) throws IOException {
        return new FramePeer(daemon, true, key, "127.0.0.1");
    }

    static SigningKey newKey() {
        try {
            KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
            byte[] encoded = pair.getPublic().getEncoded();
            return new SigningKey(
                    pair.getPrivate(), Octets.of(Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length)));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    Role role() {
        return isWorker ? Role.WORKER : Role.MCP;
    }

    ClientCommand.Challenge newChallenge() {
        return new ClientCommand.Challenge(
                Descriptor.ours(role()), id, key.publicKey(), key.fingerprint(), IDS.octets(32));
    }

    static String encode(ClientCommand command) {
        return FrameCodec.encode(new CommandFrame(IDS.uuid7(), command));
    }

    ServerEvent.Reply ask(ClientCommand command) {
        socket.send(encode(command));
        RawControl.Event event = socket.reply(ANSWER_MS);
        if (event.kind() != RawControl.Event.Kind.TEXT) {
            throw new AssertionError("no answer to " + command + ": " + event);
        }
        return (ServerEvent.Reply) FrameCodec.decodeEvent(event.text());
    }

    int status(ClientCommand command) {
        return ask(command).status();
    }

    FramePeer challenged() {
        challenge = newChallenge();
        ReplyBody.ChallengeIssued issued =
                (ReplyBody.ChallengeIssued) ask(challenge).body();
        transcript = Transcript.of(
                daemon.url().origin(), challenge, issued, 1, isWorker ? Optional.empty() : Optional.of(token.digest()));
        return this;
    }

    SignedTranscript proof() {
        return new SignedTranscript(transcript, Proof.of(role(), key, transcript));
    }

    ClientCommand.RegisterMcp registerMcp() {
        return new ClientCommand.RegisterMcp(
                proof(),
                WorkerNetwork.sign("127.0.0.1", OptionalInt.empty(), key, transcript),
                new Secret(token.text()));
    }

    /** Challenge and registration of an MCP session. */
    FramePeer registered() {
        challenged();
        ReplyBody.McpRegistered registered =
                (ReplyBody.McpRegistered) ask(registerMcp()).body();
        session = registered.sessionToken();
        launch = registered.directive() instanceof org.nemorelay.protocol.Directive.LaunchWorker order
                ? Optional.of(order.grant())
                : Optional.empty();
        return this;
    }

    ClientCommand.RegisterWorker registerWorker(String endpoint, LaunchGrant grant) {
        return new ClientCommand.RegisterWorker(
                proof(), id, endpoint, grant.activationId(), new Secret(grant.activationToken()), Optional.empty());
    }

    /** Challenge and registration of a worker. */
    FramePeer registered(String endpoint, LaunchGrant grant) {
        challenged();
        if (!(ask(registerWorker(endpoint, grant)).body() instanceof ReplyBody.WorkerRegistered registered)) {
            throw new AssertionError("a right worker was refused");
        }
        session = registered.sessionToken();
        generation = Optional.of(registered.generationGrant());
        return this;
    }

    ClientCommand.Session session(SessionPayload payload) {
        return session(payload, sequence + 1);
    }

    ClientCommand.Session session(SessionPayload payload, long number) {
        return new ClientCommand.Session(SessionRequest.of(id, session, IDS.id(), number, payload));
    }

    @Override
    public void close() {
        socket.close();
    }
}
