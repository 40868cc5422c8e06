package org.nemorelay.daemon.internal;

import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.websocket.core.CloseStatus;
import org.eclipse.jetty.websocket.core.CoreSession;
import org.eclipse.jetty.websocket.core.Frame;
import org.eclipse.jetty.websocket.core.FrameHandler;
import org.eclipse.jetty.websocket.core.OpCode;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.ServerEvent;

/**
 * One control connection (relay-daemon 3.8): frames to text and back, queues, and the facts that last as long as the
 * connection. Frames come one at a time; what is marked so belongs to the control thread.
 */
final class ControlSocket implements FrameHandler {
    private static final int MAX_QUEUED = 1_024;
    private static final long WRITE_TIMEOUT_MS = 5_000;

    private final Role role;
    private final InetAddress client;
    private final ControlPlane plane;
    private final AtomicBoolean over = new AtomicBoolean();
    /** Frames given to the connection, and those that the network has taken, in the same order. */
    private final AtomicLong handed = new AtomicLong();

    private final AtomicLong taken = new AtomicLong();
    private final AtomicBoolean watched = new AtomicBoolean();
    private volatile CoreSession core;
    private volatile String closeReason = "peer_closed";
    private ByteArrayOutputStream partial;

    // Of the connection's own thread.
    boolean challenged;
    String lastRequestId = "";
    String lastText = "";

    /** The challenge that waits for its proof; taken once, by the proof or by the end of the connection. */
    private final AtomicReference<Optional<Handshake.Pending>> pending = new AtomicReference<>(Optional.empty());

    /** The reply to the last command, once there is one. */
    volatile String lastReply = "";

    // Of the control thread.
    ControlSession session;
    final Map<String, Runnable> unacknowledged = new HashMap<>();
    String lastAcknowledged = "";
    ByteBuffer awaitedPong;

    /** @param client who is at the other end, behind whatever trusted proxy */
    ControlSocket(Role role, InetAddress client, ControlPlane plane) {
        this.role = role;
        this.client = client;
        this.plane = plane;
    }

    Role role() {
        return role;
    }

    boolean open() {
        return !over.get();
    }

    void challenge(Handshake.Pending issued) {
        pending.set(Optional.of(issued));
    }

    Optional<Handshake.Pending> takeChallenge() {
        return pending.getAndSet(Optional.empty());
    }

    /** Both ends on this machine: such sockets are never pinged. A proxy on this machine is not the other end. */
    boolean loopback() {
        return client.isLoopbackAddress()
                && core.getLocalAddress() instanceof InetSocketAddress own
                && own.getAddress().isLoopbackAddress();
    }

    /** Sends an event; the caller may be any thread. A queue that is full drops the socket. */
    void send(ServerEvent event) {
        String text = FrameCodec.encode(event);
        if (event instanceof ServerEvent.Reply) {
            lastReply = text;
        }
        sendText(text);
    }

    void sendText(String text) {
        send(new Frame(OpCode.TEXT, text));
    }

    void ping(ByteBuffer payload) {
        send(new Frame(OpCode.PING, payload.slice()));
    }

    private void send(Frame frame) {
        if (over.get()) {
            return;
        }
        if (handed.incrementAndGet() - taken.get() > MAX_QUEUED) {
            drop("outbound_queue_full");
            return;
        }
        core.sendFrame(frame, Callback.from(taken::incrementAndGet, failure -> drop("socket_write_failed")), false);
        watchWrites();
    }

    /** A peer that has not taken a frame after 5 s, or after twice that at most, is gone. */
    private void watchWrites() {
        long last = handed.get();
        if (taken.get() < last && watched.compareAndSet(false, true)) {
            plane.later(WRITE_TIMEOUT_MS, () -> {
                watched.set(false);
                if (taken.get() < last) {
                    drop("socket_write_failed");
                } else {
                    watchWrites();
                }
            });
        }
    }

    /** Closes the transport without ceremony; the first reason counts. Any thread. */
    void drop(String reason) {
        if (over.compareAndSet(false, true)) {
            closeReason = reason;
            CoreSession session = core;
            if (session != null) {
                session.abort();
            }
            plane.closed(this, reason);
        }
    }

    @Override
    public void onOpen(CoreSession session, Callback callback) {
        session.setMaxFrameSize(FrameCodec.MAX_FRAME);
        session.setMaxTextMessageSize(FrameCodec.MAX_FRAME);
        session.setAutoFragment(false);
        session.setIdleTimeout(Duration.ZERO);
        core = session;
        plane.opened(this);
        callback.succeeded();
        session.demand();
    }

    @Override
    public void onFrame(Frame frame, Callback callback) {
        switch (frame.getOpCode()) {
            case OpCode.TEXT, OpCode.CONTINUATION -> data(frame);
            case OpCode.PING -> send(new Frame(OpCode.PONG, copy(frame.getPayload())));
            case OpCode.PONG -> plane.pong(this, copy(frame.getPayload()));
            case OpCode.CLOSE -> {}
            default -> drop("unsupported_frame");
        }
        callback.succeeded();
        if (open() && frame.getOpCode() != OpCode.CLOSE) {
            // When this frame's work is done: a peer that sends faster than that waits in its own buffers.
            // The demand itself reads what has come already: not on the control thread, which would check signatures
            // then.
            Executor threads = core.getWebSocketComponents().getExecutor();
            plane.whenDone(() -> threads.execute(core::demand));
        }
    }

    private void data(Frame frame) {
        if (partial == null && frame.isFin()) {
            text(frame.getPayload());
            return;
        }
        if (partial == null) {
            partial = new ByteArrayOutputStream();
        }
        partial.writeBytes(copy(frame.getPayload()).array());
        if (partial.size() > FrameCodec.MAX_FRAME) {
            drop("malformed_request");
        } else if (frame.isFin()) {
            ByteBuffer whole = ByteBuffer.wrap(partial.toByteArray());
            partial = null;
            text(whole);
        }
    }

    private void text(ByteBuffer utf8) {
        try {
            plane.received(
                    this,
                    StandardCharsets.UTF_8
                            .newDecoder()
                            .decode(utf8 == null ? ByteBuffer.allocate(0) : utf8)
                            .toString());
        } catch (CharacterCodingException e) {
            drop("malformed_request");
        }
    }

    @Override
    public void onError(Throwable cause, Callback callback) {
        if (over.compareAndSet(false, true)) {
            closeReason = "socket_read_failed";
            plane.closed(this, closeReason);
        }
        callback.succeeded();
    }

    @Override
    public void onClosed(CloseStatus status, Callback callback) {
        if (over.compareAndSet(false, true)) {
            plane.closed(this, closeReason);
        }
        callback.succeeded();
    }

    private static ByteBuffer copy(ByteBuffer buffer) {
        byte[] bytes = new byte[buffer == null ? 0 : buffer.remaining()];
        if (buffer != null) {
            buffer.duplicate().get(bytes);
        }
        return ByteBuffer.wrap(bytes);
    }
}
