package org.nemorelay.daemon.internal;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.control.ActivationFailure;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.ControlPaths;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SigningKey;

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
        LEAVE,
        RELEASE,
        ACTIVATION_FAILED,
        CANCEL_ACTIVATION,
        ACKNOWLEDGE
    }

    private final TestDaemon daemon;
    private final String endpoint;
    private final Ids ids = new Ids();
    private int opened;
    private Optional<FramePeer> mcp = Optional.empty();
    private Optional<FramePeer> worker = Optional.empty();
    private Optional<FramePeer> fresh = Optional.empty();
    private Optional<LaunchGrant> lastGrant = Optional.empty();

    FuzzPeer(TestDaemon daemon, String endpoint) {
        this.daemon = daemon;
        this.endpoint = endpoint;
    }

    /** A connection from one of many addresses, so that no limit on one of them is met. */
    RawControl open(boolean isWorker) throws IOException {
        return new RawControl(daemon.port(), isWorker ? ControlPaths.WORKER : ControlPaths.MCP, from());
    }

    private String from() {
        return "127.0." + (1 + opened++ % ADDRESSES) + ".1";
    }

    private FramePeer peer(boolean isWorker, SigningKey key) throws IOException {
        return new FramePeer(daemon, isWorker, key, from());
    }

    String challenge(boolean isWorker) {
        SigningKey key = FramePeer.newKey();
        return FramePeer.encode(new ClientCommand.Challenge(
                Descriptor.ours(isWorker ? Role.WORKER : Role.MCP),
                ids.uuid7(),
                key.publicKey(),
                key.fingerprint(),
                ids.octets(32)));
    }

    /** The connection on which a frame of that kind is due. */
    RawControl socket(Kind kind) throws IOException {
        return switch (kind) {
            case CHALLENGE -> fresh(peer(false, FramePeer.newKey())).socket;
            case REGISTER_MCP -> fresh(peer(false, FramePeer.newKey()).challenged()).socket;
            case REGISTER_WORKER, RECOVER_WORKER ->
                fresh(peer(true, mcpPeer().key).challenged()).socket;
            case READY, REPORT_PLUGINS, LEAVE -> workerPeer().socket;
            case RELEASE, ACTIVATION_FAILED, CANCEL_ACTIVATION, ACKNOWLEDGE -> mcpPeer().socket;
        };
    }

    /** A right frame of that kind for the connection of {@link #socket}. */
    String frame(Kind kind) {
        return FramePeer.encode(
                switch (kind) {
                    case CHALLENGE -> fresh.orElseThrow().newChallenge();
                    case REGISTER_MCP -> fresh.orElseThrow().registerMcp();
                    case REGISTER_WORKER -> fresh.orElseThrow().registerWorker(endpoint, grant());
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
                                        List.of(new PluginReport("kind", "1", "active", "file", "", "no")), List.of()));
                    case LEAVE -> worker.orElseThrow().session(new SessionPayload.Leave());
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

    private FramePeer fresh(FramePeer peer) {
        fresh = Optional.of(peer);
        return peer;
    }

    /** Hears what the daemon has to say and whether the connection still stands. */
    private static boolean standing(FramePeer peer) {
        return !peer.socket.over() && peer.socket.reply(1).kind() == RawControl.Event.Kind.NOTHING;
    }

    private FramePeer mcpPeer() throws IOException {
        if (mcp.filter(FuzzPeer::standing).isEmpty()) {
            forgetWorker();
            mcp.ifPresent(gone -> gone.socket.close());
            FramePeer peer = peer(false, FramePeer.newKey()).registered();
            lastGrant = peer.launch;
            mcp = Optional.of(peer);
        }
        return mcp.get();
    }

    private FramePeer workerPeer() throws IOException {
        if (mcp.filter(FuzzPeer::standing).isEmpty()
                || worker.filter(FuzzPeer::standing).isEmpty()) {
            forgetWorker();
            mcp.ifPresent(this::leave);
            mcp = Optional.empty();
            FramePeer peer = peer(true, mcpPeer().key).registered(endpoint, grant());
            worker = Optional.of(peer);
        }
        return worker.get();
    }

    private void leave(FramePeer peer) {
        if (!peer.socket.over()) {
            peer.socket.send(FramePeer.encode(peer.session(new SessionPayload.Release())));
            peer.socket.reply(ANSWER_MS);
        }
        peer.socket.close();
    }

    /** What the daemon made of a frame; a session that may have moved on is begun again. */
    void answered(Kind kind, CommandFrame frame, JsonObject reply, int status) {
        boolean counted = status == 200 || status == 204;
        if (frame.command() instanceof ClientCommand.Session session) {
            Optional<FramePeer> peer = workers(kind) ? worker : mcp;
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

    private static boolean workers(Kind kind) {
        return kind == Kind.READY || kind == Kind.REPORT_PLUGINS || kind == Kind.LEAVE;
    }

    private void forgetWorker() {
        worker.ifPresent(peer -> peer.socket.close());
        worker = Optional.empty();
    }

    /** After a frame: connections that are good for one only are closed. */
    void done(Kind kind, RawControl socket) {
        switch (kind) {
            case CHALLENGE, REGISTER_MCP, REGISTER_WORKER, RECOVER_WORKER -> socket.close();
            case READY, REPORT_PLUGINS, LEAVE, RELEASE, ACTIVATION_FAILED, CANCEL_ACTIVATION, ACKNOWLEDGE -> {}
        }
    }

    @Override
    public void close() {
        mcp.ifPresent(this::leave);
        forgetWorker();
    }
}
