package org.nemorelay.daemon.internal;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.protocol.control.ActivationFailure;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.ControlPaths;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Octets;
import org.nemorelay.protocol.control.PluginReport;
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

/** Peers whose frames are right until a test bends them: for each kind of frame a connection on which it would be accepted. */
final class FuzzPeer implements AutoCloseable {
    private static final int ADDRESSES = 200;
    private static final int ANSWER_MS = 10_000;

    /** The frames of relay-daemon 3.4. */
    enum Kind {
        CHALLENGE,
        REGISTER_MCP,
        REGISTER_WORKER,
        RECOVER_WORKER,
        READY,
        REPORT_PLUGINS,
        RELEASE,
        ACTIVATION_FAILED,
        CANCEL_ACTIVATION,
        ACKNOWLEDGE
    }

    private final TestDaemon daemon;
    private final String endpoint;
    private final Ids ids = new Ids();
    private int opened;
    private Optional<Peer> mcp = Optional.empty();
    private Optional<Peer> worker = Optional.empty();
    private Optional<Peer> fresh = Optional.empty();
    private Optional<LaunchGrant> lastGrant = Optional.empty();

    /** One connection with what its peer knows. */
    private final class Peer {
        final RawControl socket;
        final SigningKey key;
        final String id = ids.uuid7();
        final RouteToken token = RouteToken.parse(ids.secret().text()).orElseThrow();
        final boolean isWorker;
        Transcript transcript;
        Secret session = new Secret("none");
        Optional<GenerationGrant> generation = Optional.empty();
        long sequence;

        Peer(boolean isWorker, SigningKey key) throws IOException {
            this.socket = open(isWorker);
            this.isWorker = isWorker;
            this.key = key;
        }

        Role role() {
            return isWorker ? Role.WORKER : Role.MCP;
        }

        ServerEvent.Reply ask(ClientCommand command) {
            socket.send(encode(command));
            RawControl.Event event = socket.reply(ANSWER_MS);
            if (event.kind() != RawControl.Event.Kind.TEXT) {
                throw new AssertionError("no answer to a right " + command + ": " + event);
            }
            return (ServerEvent.Reply) FrameCodec.decodeEvent(event.text());
        }

        Peer challenged() {
            ClientCommand.Challenge challenge = challenge(role(), id, key);
            ReplyBody.ChallengeIssued issued =
                    (ReplyBody.ChallengeIssued) ask(challenge).body();
            transcript = Transcript.of(
                    daemon.url().origin(),
                    challenge,
                    issued,
                    1,
                    isWorker ? Optional.empty() : Optional.of(token.digest()));
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

        ClientCommand.RegisterWorker registerWorker(LaunchGrant grant) {
            return new ClientCommand.RegisterWorker(
                    proof(), id, endpoint, grant.activationId(), new Secret(grant.activationToken()), Optional.empty());
        }

        ClientCommand.Session session(SessionPayload payload) {
            return new ClientCommand.Session(SessionRequest.of(id, session, ids.id(), sequence + 1, payload));
        }
    }

    FuzzPeer(TestDaemon daemon, String endpoint) {
        this.daemon = daemon;
        this.endpoint = endpoint;
    }

    /** A connection from one of many addresses, so that no limit on one of them is met. */
    RawControl open(boolean isWorker) throws IOException {
        String from = "127.0." + (1 + opened % ADDRESSES) + ".1";
        opened++;
        return new RawControl(daemon.port(), isWorker ? ControlPaths.WORKER : ControlPaths.MCP, from);
    }

    String challenge(boolean isWorker) {
        return encode(challenge(isWorker ? Role.WORKER : Role.MCP, ids.uuid7(), key()));
    }

    private ClientCommand.Challenge challenge(Role role, String id, SigningKey key) {
        return new ClientCommand.Challenge(
                Descriptor.ours(role), id, key.publicKey(), key.fingerprint(), ids.octets(32));
    }

    private String encode(ClientCommand command) {
        return FrameCodec.encode(new CommandFrame(ids.uuid7(), command));
    }

    private static SigningKey key() {
        try {
            KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
            byte[] encoded = pair.getPublic().getEncoded();
            return new SigningKey(
                    pair.getPrivate(), Octets.of(Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length)));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /** The connection on which a frame of that kind is due. */
    RawControl socket(Kind kind) throws IOException {
        return switch (kind) {
            case CHALLENGE -> fresh(new Peer(false, key())).socket;
            case REGISTER_MCP -> fresh(new Peer(false, key()).challenged()).socket;
            case REGISTER_WORKER, RECOVER_WORKER -> fresh(new Peer(true, mcpPeer().key).challenged()).socket;
            case READY, REPORT_PLUGINS -> workerPeer().socket;
            case RELEASE, ACTIVATION_FAILED, CANCEL_ACTIVATION, ACKNOWLEDGE -> mcpPeer().socket;
        };
    }

    /** A right frame of that kind for the connection of {@link #socket}. */
    String frame(Kind kind) {
        return encode(
                switch (kind) {
                    case CHALLENGE -> challenge(Role.MCP, fresh.orElseThrow().id, fresh.orElseThrow().key);
                    case REGISTER_MCP -> fresh.orElseThrow().registerMcp();
                    case REGISTER_WORKER -> fresh.orElseThrow().registerWorker(grant());
                    case RECOVER_WORKER ->
                        new ClientCommand.RecoverWorker(
                                fresh.orElseThrow().proof(),
                                fresh.orElseThrow().id,
                                endpoint,
                                Optional.empty(),
                                GenerationGrant.sign(
                                        fresh.orElseThrow().key,
                                        ids.id(),
                                        fresh.orElseThrow().id,
                                        fresh.orElseThrow().key.fingerprint(),
                                        endpoint,
                                        Optional.empty()));
                    case READY -> worker.orElseThrow().session(new SessionPayload.Ready(worker.orElseThrow().id));
                    case REPORT_PLUGINS ->
                        worker.orElseThrow()
                                .session(new SessionPayload.ReportPlugins(
                                        List.of(new PluginReport("kind", "1", "active", "file", ""))));
                    case RELEASE -> mcp.orElseThrow().session(new SessionPayload.Release());
                    case ACTIVATION_FAILED ->
                        mcp.orElseThrow()
                                .session(new SessionPayload.ActivationFailed(
                                        grant().activationId(), ActivationFailure.of("worker_exited_before_ready")));
                    case CANCEL_ACTIVATION ->
                        mcp.orElseThrow().session(new SessionPayload.CancelActivation(grant().activationId()));
                    case ACKNOWLEDGE -> new ClientCommand.Acknowledge(ids.uuid7());
                });
    }

    private LaunchGrant grant() {
        return lastGrant.orElseGet(() -> new LaunchGrant(
                ids.id(), ids.secret().text(), LaunchGrant.NO_DEADLINE, "127.0.0.1", 0, Optional.empty()));
    }

    private Peer fresh(Peer peer) {
        fresh = Optional.of(peer);
        return peer;
    }

    /** Hears what the daemon has to say and whether the connection still stands. */
    private static boolean standing(Peer peer) {
        return !peer.socket.over() && peer.socket.reply(1).kind() == RawControl.Event.Kind.NOTHING;
    }

    private Peer mcpPeer() throws IOException {
        if (mcp.filter(FuzzPeer::standing).isEmpty()) {
            forgetWorker();
            Peer peer = new Peer(false, key()).challenged();
            ReplyBody.McpRegistered registered =
                    (ReplyBody.McpRegistered) peer.ask(peer.registerMcp()).body();
            peer.session = registered.sessionToken();
            lastGrant = registered.directive() instanceof org.nemorelay.protocol.Directive.LaunchWorker launch
                    ? Optional.of(launch.grant())
                    : Optional.empty();
            mcp = Optional.of(peer);
        }
        return mcp.get();
    }

    private Peer workerPeer() throws IOException {
        if (mcp.filter(FuzzPeer::standing).isEmpty()
                || worker.filter(FuzzPeer::standing).isEmpty()) {
            forgetWorker();
            mcp.ifPresent(this::leave);
            mcp = Optional.empty();
            Peer peer = new Peer(true, mcpPeer().key).challenged();
            if (!(peer.ask(peer.registerWorker(grant())).body() instanceof ReplyBody.WorkerRegistered registered)) {
                throw new AssertionError("a right worker was refused");
            }
            peer.session = registered.sessionToken();
            worker = Optional.of(peer);
        }
        return worker.get();
    }

    private void leave(Peer peer) {
        if (!peer.socket.over()) {
            peer.socket.send(encode(peer.session(new SessionPayload.Release())));
            peer.socket.reply(ANSWER_MS);
        }
        peer.socket.close();
    }

    /** What the daemon made of a frame; a session that may have moved on is begun again. */
    void answered(Kind kind, CommandFrame frame, JsonObject reply, int status) {
        boolean counted = status == 200 || status == 204;
        if (frame.command() instanceof ClientCommand.Session session) {
            Optional<Peer> peer = kind == Kind.READY || kind == Kind.REPORT_PLUGINS ? worker : mcp;
            if (counted && !(session.request().payload() instanceof SessionPayload.Release)) {
                peer.orElseThrow().sequence++;
            } else {
                peer.ifPresent(this::leave);
            }
            if (peer == mcp) {
                // Its launch may be over, and a worker's connection with it.
                forgetWorker();
            }
        }
    }

    private void forgetWorker() {
        worker.ifPresent(peer -> peer.socket.close());
        worker = Optional.empty();
    }

    /** After a frame: connections that are good for one only are closed. */
    void done(Kind kind, RawControl socket) {
        switch (kind) {
            case CHALLENGE, REGISTER_MCP, REGISTER_WORKER, RECOVER_WORKER -> socket.close();
            case READY, REPORT_PLUGINS, RELEASE, ACTIVATION_FAILED, CANCEL_ACTIVATION, ACKNOWLEDGE -> {}
        }
    }

    @Override
    public void close() {
        mcp.ifPresent(this::leave);
        forgetWorker();
    }
}
