package org.nemorelay.bench;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
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

/**
 * A control client that costs little more than its socket: no thread, so that thousands idle in one process. It proves
 * itself as a real one does and acknowledges what it is told while it waits for an answer.
 */
final class ControlPeer implements AutoCloseable {
    private static final String HEAD = " HTTP/1.1\r\nhost: relay\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
            + "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";
    private static final Ids IDS = new Ids();
    private static final FastSigner SIGNER = new FastSigner();

    /** One user on one machine. */
    record Identity(SigningKey key, RouteToken token) {
        static Identity create() {
            try {
                KeyPair pair = KeyPairGenerator.getInstance("Ed25519").generateKeyPair();
                byte[] encoded = pair.getPublic().getEncoded();
                Octets raw = Octets.of(Arrays.copyOfRange(encoded, encoded.length - 32, encoded.length));
                return new Identity(
                        new SigningKey(pair.getPrivate(), raw).by(SIGNER),
                        RouteToken.parse(IDS.secret().text()).orElseThrow());
            } catch (GeneralSecurityException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    private final int port;
    private final Identity identity;
    private final Role role;
    private final String id = IDS.uuid7();
    private Socket socket = new Socket();
    private DataInputStream in = new DataInputStream(DataInputStream.nullInputStream());
    private Transcript transcript;
    private Secret token = new Secret("none");
    private long sequence;
    private GenerationGrant generation;
    private boolean heardDirective;
    private Optional<ServerEvent.Reply> reply = Optional.empty();

    /** What the MCP session was told last. */
    Optional<LaunchGrant> launch = Optional.empty();

    ControlPeer(int port, Identity identity, Role role) {
        this.port = port;
        this.identity = identity;
        this.role = role;
    }

    /** Connects from that loopback address and proves nothing yet. */
    private void connect(String from) throws IOException {
        socket = new Socket();
        socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", port), 5_000);
        socket.setTcpNoDelay(true);
        socket.setSoTimeout(30_000);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 2_048));
        String path = role == Role.MCP ? ControlPaths.MCP : ControlPaths.WORKER;
        socket.getOutputStream().write(("GET " + path + HEAD).getBytes(StandardCharsets.ISO_8859_1));
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) in.readUnsignedByte());
        }
        if (!head.toString().contains(" 101 ")) {
            throw new IOException("no upgrade: " + head);
        }
        ClientCommand.Challenge challenge = new ClientCommand.Challenge(
                Descriptor.ours(role),
                id,
                identity.key().publicKey(),
                identity.key().fingerprint(),
                IDS.octets(32));
        if (!(ask(challenge) instanceof ReplyBody.ChallengeIssued issued)) {
            throw new IOException("no challenge");
        }
        transcript = Transcript.of(
                "http://127.0.0.1:" + port,
                challenge,
                issued,
                1,
                role == Role.MCP ? Optional.of(identity.token().digest()) : Optional.empty());
    }

    private SignedTranscript proof() {
        return new SignedTranscript(transcript, Proof.of(role, identity.key(), transcript));
    }

    /** Registers, or comes back, as an MCP session. */
    void registerMcp(String from) throws IOException {
        connect(from);
        heardDirective = false;
        ReplyBody answer = ask(new ClientCommand.RegisterMcp(
                proof(),
                WorkerNetwork.sign("127.0.0.1", OptionalInt.empty(), identity.key(), transcript),
                new Secret(identity.token().text())));
        if (!(answer instanceof ReplyBody.McpRegistered registered)) {
            throw new IOException("not registered: " + answer);
        }
        token = registered.sessionToken();
        sequence = 0;
        while (!heardDirective) {
            read();
        }
    }

    void registerWorker(String from, String endpoint, LaunchGrant grant) throws IOException {
        connect(from);
        registered(ask(new ClientCommand.RegisterWorker(
                proof(), id, endpoint, grant.activationId(), new Secret(grant.activationToken()), Optional.empty())));
    }

    /** Comes back as the same worker. */
    void recoverWorker(String from, String endpoint) throws IOException {
        connect(from);
        registered(ask(new ClientCommand.RecoverWorker(proof(), id, endpoint, Optional.empty(), generation)));
    }

    private void registered(ReplyBody reply) throws IOException {
        if (!(reply instanceof ReplyBody.WorkerRegistered registered)) {
            throw new IOException("not registered: " + reply);
        }
        token = registered.sessionToken();
        generation = registered.generationGrant();
        sequence = 0;
    }

    void ready() throws IOException {
        session(new SessionPayload.Ready(id));
    }

    void release() throws IOException {
        session(new SessionPayload.Release());
    }

    private void session(SessionPayload payload) throws IOException {
        ReplyBody reply = ask(new ClientCommand.Session(SessionRequest.of(id, token, IDS.id(), ++sequence, payload)));
        if (!(reply instanceof ReplyBody.Empty)) {
            throw new IOException(payload.type() + " was refused: " + reply);
        }
    }

    private ReplyBody ask(ClientCommand command) throws IOException {
        String requestId = IDS.uuid7();
        reply = Optional.empty();
        send(FrameCodec.encode(new CommandFrame(requestId, command)));
        while (reply.filter(answer -> answer.requestId().equals(requestId)).isEmpty()) {
            read();
        }
        return reply.get().body();
    }

    /** Reads what comes until the connection ends, so that what the daemon says is acknowledged. */
    void listen() {
        try {
            socket.setSoTimeout(0);
            while (true) {
                read();
            }
        } catch (IOException e) {
            // the end
        }
    }

    private void read() throws IOException {
        int first = in.readUnsignedByte();
        int length = in.readUnsignedByte();
        long size = length == 126 ? in.readUnsignedShort() : length == 127 ? in.readLong() : length;
        String text = new String(in.readNBytes((int) size), StandardCharsets.UTF_8);
        if ((first & 15) != 1) {
            throw new IOException("the daemon closed the connection");
        }
        switch (FrameCodec.decodeEvent(text)) {
            case ServerEvent.Reply answer -> reply = Optional.of(answer);
            case ServerEvent.DirectiveIssued directive -> {
                heardDirective = true;
                if (directive.directive() instanceof org.nemorelay.protocol.Directive.LaunchWorker order) {
                    launch = Optional.of(order.grant());
                }
                acknowledge(directive.requestId());
            }
            case ServerEvent.Drain drain -> acknowledge(drain.requestId());
            case ServerEvent.WorkerUnreachable _ -> {}
        }
    }

    private void acknowledge(String requestId) throws IOException {
        send(FrameCodec.encode(new CommandFrame(IDS.uuid7(), new ClientCommand.Acknowledge(requestId))));
    }

    private void send(String text) throws IOException {
        byte[] payload = text.getBytes(StandardCharsets.UTF_8);
        byte[] frame = new byte[payload.length + 8];
        frame[0] = (byte) 0x81;
        frame[1] = (byte) (0x80 | 126);
        frame[2] = (byte) (payload.length >> 8);
        frame[3] = (byte) payload.length;
        System.arraycopy(payload, 0, frame, 8, payload.length); // a mask of zeroes
        if (payload.length < 126) { // the short form must be used
            frame[1] = (byte) (0x80 | payload.length);
            System.arraycopy(payload, 0, frame, 6, payload.length);
            socket.getOutputStream().write(frame, 0, payload.length + 6);
        } else {
            socket.getOutputStream().write(frame);
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            // closed is closed
        }
    }
}
