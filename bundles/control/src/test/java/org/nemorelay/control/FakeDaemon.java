package org.nemorelay.control;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.protocol.control.CancelOutcome;
import org.nemorelay.protocol.control.ClientCommand;
import org.nemorelay.protocol.control.CommandFrame;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.GenerationGrant;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.Proof;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.protocol.control.SignedTranscript;
import org.nemorelay.protocol.control.SigningKey;
import org.nemorelay.protocol.control.Transcript;

/** A daemon for tests: it checks every client as strictly as a real one and says what the test tells it to say. */
public final class FakeDaemon implements AutoCloseable {
    private final ServerSocket server;
    private final SigningKey key;
    private final Ids ids = new Ids();
    private final String instanceId = ids.uuid7();
    private final List<Connection> connections = new CopyOnWriteArrayList<>();
    private final List<String> faults = new CopyOnWriteArrayList<>();
    private final Map<String, Secret> sessions = new ConcurrentHashMap<>();

    private final AtomicLong acknowledgements = new AtomicLong();
    private final AtomicLong upgrades = new AtomicLong();

    /** Registrations and sessions' commands, in order of arrival. */
    public final List<ClientCommand> received = new CopyOnWriteArrayList<>();

    public volatile Descriptor descriptor = Descriptor.ours(Role.DAEMON);
    /** What a registering MCP process is told. */
    public volatile Directive directive = new Directive.UsePassThrough();
    /** Set to refuse every registration with this status. */
    public volatile Optional<ServerEvent.Reply> refusal = Optional.empty();

    public volatile CancelOutcome cancelOutcome = CancelOutcome.CANCELLED;
    /** Set to sign with a key other than the one it shows. */
    public volatile Optional<SigningKey> forger = Optional.empty();
    /** Set to take commands and never answer. */
    public volatile boolean silent;
    /** Set to read nothing more, while it still says what it is told to. */
    public volatile boolean deaf;
    /** Status of the upgrade; 101 is the only one that goes on. */
    public volatile int upgradeStatus = 101;
    /** Splits every message into frames of this size, with a ping in between; 0 for whole messages. */
    public volatile int fragment;

    public FakeDaemon(Path state) throws IOException {
        this(state, 0);
    }

    public FakeDaemon(Path state, int port) throws IOException {
        key = StateFolder.at(state).daemonIdentity();
        server = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().name("fake-daemon").start(this::acceptAll);
    }

    public DaemonUrl url() {
        return DaemonUrl.parse("http://127.0.0.1:" + server.getLocalPort());
    }

    /** Tells every live session. */
    public void push(Directive next) {
        for (Connection connection : connections) {
            connection.send(new ServerEvent.DirectiveIssued(ids.uuid7(), next));
        }
    }

    public void drain(String workerId) {
        for (Connection connection : connections) {
            connection.send(new ServerEvent.Drain(ids.uuid7(), workerId, 1, 119_998));
        }
    }

    /** Tells every live session to drain, and is gone in that moment: nothing can be said to it any more. */
    public void drainAndReset(String workerId) {
        for (Connection connection : connections) {
            connection.send(new ServerEvent.Drain(ids.uuid7(), workerId, 1, 119_998));
            connection.reset();
        }
    }

    /** Sends text that need not be a frame. */
    public void pushRaw(String text) {
        for (Connection connection : connections) {
            connection.sendText(text);
        }
    }

    /** Closes every live connection. */
    public void drop() {
        for (Connection connection : connections) {
            connection.close();
        }
    }

    public int liveConnections() {
        return connections.size();
    }

    /** What clients did wrong, in sentences. */
    public List<String> faults() {
        return List.copyOf(faults);
    }

    /** The session commands of that kind so far. */
    public <T extends SessionPayload> List<T> payloads(Class<T> type) {
        List<T> found = new ArrayList<>();
        for (ClientCommand command : received) {
            if (command instanceof ClientCommand.Session session
                    && type.isInstance(session.request().payload())) {
                found.add(type.cast(session.request().payload()));
            }
        }
        return found;
    }

    public long acknowledgements() {
        return acknowledgements.get();
    }

    /** Upgrades that were asked for, whatever became of them. */
    public long upgrades() {
        return upgrades.get();
    }

    public long registrations() {
        return received.stream()
                .filter(command -> command instanceof ClientCommand.RegisterMcp
                        || command instanceof ClientCommand.RegisterWorker
                        || command instanceof ClientCommand.RecoverWorker)
                .count();
    }

    /** Waits up to 10 s. */
    public static void await(String what, BooleanSupplier condition) {
        long deadline = System.nanoTime() + 10_000_000_000L;
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadline > 0) {
                throw new AssertionError("not within 10 s: " + what);
            }
            Thread.onSpinWait();
            try {
                Thread.sleep(2);
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        drop();
    }

    private void acceptAll() {
        while (true) {
            try {
                Socket socket = server.accept();
                // As the daemon has it: what was written is on its way before a reset.
                socket.setTcpNoDelay(true);
                Thread.ofPlatform().daemon().start(new Connection(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void check(boolean good, String fault) {
        if (!good) {
            faults.add(fault);
        }
    }

    private final class Connection implements Runnable {
        private final Socket socket;
        private String path = "";
        private ClientCommand.Challenge challenge;
        private ReplyBody.ChallengeIssued issued;
        private long sequence;
        private String sessionId = "";

        private Connection(Socket socket) {
            this.socket = socket;
        }

        @Override
        public void run() {
            try (socket) {
                DataInputStream in = new DataInputStream(socket.getInputStream());
                if (upgrade(in)) {
                    while (true) {
                        CommandFrame frame = FrameCodec.decodeCommand(text(in));
                        while (deaf && !socket.isClosed()) {
                            Thread.sleep(5);
                        }
                        receive(frame);
                    }
                }
            } catch (IOException e) {
                // the client went away
            } catch (Exception e) {
                faults.add("broke: " + e);
            } finally {
                connections.remove(this);
            }
        }

        private boolean upgrade(DataInputStream in) throws Exception {
            StringBuilder head = new StringBuilder();
            while (!head.toString().endsWith("\r\n\r\n")) {
                int next = in.read();
                if (next < 0) {
                    return false;
                }
                head.append((char) next);
            }
            String[] lines = head.toString().split("\r\n");
            path = lines[0].split(" ")[1];
            String wanted = "Sec-WebSocket-Key: ";
            String clientKey = List.of(lines).stream()
                    .filter(line -> line.startsWith(wanted))
                    .findFirst()
                    .orElseThrow()
                    .substring(wanted.length());
            String accept = Base64.getEncoder()
                    .encodeToString(MessageDigest.getInstance("SHA-1")
                            .digest((clientKey + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")
                                    .getBytes(StandardCharsets.US_ASCII)));
            String answer = upgradeStatus == 101
                    ? "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-accept: "
                            + accept + "\r\n\r\n"
                    : "HTTP/1.1 " + upgradeStatus + " No\r\ncontent-length: 0\r\n\r\n";
            upgrades.incrementAndGet();
            socket.getOutputStream().write(answer.getBytes(StandardCharsets.US_ASCII));
            return upgradeStatus == 101;
        }

        private String text(DataInputStream in) throws IOException {
            while (true) {
                int first = in.readUnsignedByte();
                int second = in.readUnsignedByte();
                check((second & 0x80) != 0, "a frame without mask");
                long length = second & 0x7f;
                length = length == 126 ? in.readUnsignedShort() : length == 127 ? in.readLong() : length;
                byte[] mask = in.readNBytes(4);
                byte[] payload = in.readNBytes((int) length);
                for (int i = 0; i < payload.length; i++) {
                    payload[i] ^= mask[i % 4];
                }
                if ((first & 0x0f) == 1) {
                    return new String(payload, StandardCharsets.UTF_8);
                }
                check((first & 0x0f) == 10, "frame of kind " + first);
            }
        }

        private void receive(CommandFrame frame) {
            if (frame.command() instanceof ClientCommand.Acknowledge) {
                acknowledgements.incrementAndGet();
            }
            if (silent) {
                return;
            }
            switch (frame.command()) {
                case ClientCommand.Challenge sent -> {
                    challenge = sent;
                    check(sent.initiator().problem().isEmpty(), "descriptor");
                    check(
                            path.endsWith(sent.initiator().role().word()),
                            "role " + sent.initiator().role() + " on " + path);
                    issued = ReplyBody.ChallengeIssued.sign(
                            key, descriptor, instanceId, ids.octets(16), ids.octets(32), 1, 15_001, sent);
                    reply(frame, 200, issued);
                }
                case ClientCommand.RegisterMcp register -> {
                    received.add(register);
                    Transcript transcript = checked(register.proof());
                    check(register.workerNetwork().intact(transcript), "network hint");
                    check(
                            transcript
                                    .routeTokenDigest()
                                    .equals(Optional.of(register.credential().digest())),
                            "token digest");
                    registered(frame, token -> new ReplyBody.McpRegistered(proof(transcript), token, directive));
                    if (refusal.isEmpty()) {
                        send(new ServerEvent.DirectiveIssued(ids.uuid7(), directive));
                    }
                }
                case ClientCommand.RegisterWorker register -> {
                    received.add(register);
                    Transcript transcript = checked(register.proof());
                    check(register.workerId().equals(transcript.initiatorInstanceId()), "worker id");
                    worker(frame, transcript, register.endpoint());
                }
                case ClientCommand.RecoverWorker recover -> {
                    received.add(recover);
                    check(recover.generationGrant().intact(key.publicKey()), "generation grant");
                    worker(frame, checked(recover.proof()), recover.endpoint());
                }
                case ClientCommand.Session session -> {
                    received.add(session);
                    check(session.request().intact(), "payload hash");
                    check(session.request().sequence() == ++sequence, "sequence");
                    check(session.request().sessionId().equals(sessionId), "session id");
                    check(session.request().sessionToken().equals(sessions.get(sessionId)), "session token");
                    if (session.request().payload() instanceof SessionPayload.CancelActivation) {
                        reply(frame, 200, new ReplyBody.ActivationCancelled(cancelOutcome));
                    } else {
                        reply(frame, 204, new ReplyBody.Empty());
                    }
                }
                case ClientCommand.Acknowledge acknowledge -> reply(frame, 204, new ReplyBody.Empty());
            }
        }

        private Transcript checked(SignedTranscript proof) {
            check(proof.intact(), "handshake signature");
            check(proof.transcript().problem().isEmpty(), "transcript");
            Transcript expected = Transcript.of(
                    url().origin(), challenge, issued, 1, proof.transcript().routeTokenDigest());
            check(proof.transcript().equals(expected), "transcript differs from the challenge");
            return proof.transcript();
        }

        private void worker(CommandFrame frame, Transcript transcript, String endpoint) {
            registered(
                    frame,
                    token -> new ReplyBody.WorkerRegistered(
                            proof(transcript),
                            token,
                            ids.secret(),
                            GenerationGrant.sign(
                                    key,
                                    ids.id(),
                                    sessionId,
                                    transcript.initiatorFingerprint(),
                                    endpoint,
                                    Optional.empty())));
        }

        private Proof proof(Transcript transcript) {
            return Proof.of(Role.DAEMON, forger.orElse(key), transcript);
        }

        private void registered(CommandFrame frame, Function<Secret, ReplyBody> body) {
            sessionId = challenge.initiatorInstanceId();
            if (refusal.isPresent()) {
                reply(frame, refusal.get().status(), refusal.get().body());
                return;
            }
            Secret token = sessions.computeIfAbsent(sessionId, id -> ids.secret());
            connections.add(this);
            reply(frame, 200, body.apply(token));
        }

        private void reply(CommandFrame frame, int status, ReplyBody body) {
            send(new ServerEvent.Reply(frame.requestId(), status, body));
        }

        private void send(ServerEvent event) {
            sendText(FrameCodec.encode(event));
        }

        private synchronized void sendText(String text) {
            byte[] payload = text.getBytes(StandardCharsets.UTF_8);
            int size = fragment == 0 ? Math.max(1, payload.length) : fragment;
            ByteArrayOutputStream frames = new ByteArrayOutputStream();
            for (int at = 0; at < payload.length; at += size) {
                int length = Math.min(size, payload.length - at);
                frames.write((at + length == payload.length ? 0x80 : 0) | (at == 0 ? 1 : 0));
                if (length < 126) {
                    frames.write(length);
                } else {
                    frames.write(127);
                    frames.writeBytes(
                            java.nio.ByteBuffer.allocate(8).putLong(length).array());
                }
                frames.write(payload, at, length);
                if (fragment != 0) {
                    frames.writeBytes(new byte[] {(byte) 0x89, 2, 'h', 'i'});
                }
            }
            try {
                OutputStream out = socket.getOutputStream();
                out.write(frames.toByteArray());
                out.flush();
            } catch (IOException e) {
                // the client went away
            }
        }

        private void reset() {
            try {
                socket.setSoLinger(true, 0);
            } catch (IOException e) {
                throw new AssertionError(e);
            }
            close();
        }

        private void close() {
            try {
                socket.close();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** An MCP client of this daemon that was registered within {@code seconds}, with the user's state in {@code user}. */
    ControlSession registered(Path user, int seconds, ControlListener listener) {
        StateFolder state = StateFolder.at(user);
        Ids ids = new Ids();
        return new ControlClient(
                        url(),
                        Role.MCP,
                        ids.uuid7(),
                        state.machineIdentity(),
                        state.pins(),
                        ids,
                        new ClientTls(Map.of()))
                .registerMcp(
                        RouteToken.parse("6ABczPkGGtD7g_0xg-a9dnUM0oftASYPYSzz0yvegK0")
                                .orElseThrow(),
                        new NetworkHint("127.0.0.1", OptionalInt.empty()),
                        listener,
                        System.nanoTime() + seconds * 1_000_000_000L)
                .session();
    }
}
