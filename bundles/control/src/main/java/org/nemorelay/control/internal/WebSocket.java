package org.nemorelay.control.internal;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.FrameCodec;
import org.nemorelay.protocol.control.Ids;

/**
 * The client end of one WebSocket (RFC 6455) that carries text messages of at most 256 KiB. Small on purpose: an MCP
 * process answers its harness only after it has talked through one. One thread reads; any thread sends.
 */
public final class WebSocket implements AutoCloseable {
    private static final int MAX_HEAD = 16 * 1024;
    private static final int MAX_CONTROL = 125;

    /** A daemon on another machine that says nothing for this long is asked whether it is there. */
    private static final int QUIET_MS = 30_000;
    /** How long its answer may take. */
    private static final int ANSWER_MS = 10_000;

    /** How long a frame may wait for the one before it: a daemon that has not taken that one by then takes none. */
    private static final long WRITE_MS = 5_000;

    private static final String ACCEPT_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

    private static final int CONTINUATION = 0;
    private static final int TEXT = 1;
    private static final int CLOSE = 8;
    private static final int PING = 9;
    private static final int PONG = 10;

    /** The connection itself: closing a TLS socket would wait for its peer, which may be cut off. */
    private final Socket transport;

    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private final ReentrantLock writing = new ReentrantLock();
    private final Ids ids;

    private WebSocket(Socket transport, Socket socket, Ids ids) throws IOException {
        this.transport = transport;
        this.socket = socket;
        this.in = new DataInputStream(new BufferedInputStream(socket.getInputStream(), 8192));
        this.out = socket.getOutputStream();
        this.ids = ids;
    }

    /**
     * Connects and upgrades before the deadline ({@link System#nanoTime()}). {@link RelayException}: {@code UNAVAILABLE}
     * when nobody answers as a daemon does, {@code LIMIT_REACHED} when the daemon wants fewer connections.
     */
    public static WebSocket open(DaemonUrl daemon, String path, Ids ids, ClientTls tls, long deadlineNanos) {
        Socket transport = null;
        try {
            transport = connect(daemon, deadlineNanos);
            Socket socket = daemon.secure() ? secure(transport, daemon, tls, deadlineNanos) : transport;
            socket.setSoTimeout(remainingMillis(deadlineNanos));
            WebSocket webSocket = new WebSocket(transport, socket, ids);
            webSocket.upgrade(daemon, path);
            // Between two machines a link may be cut without a word; on one, silence is nothing.
            socket.setSoTimeout(webSocket.local() ? 0 : QUIET_MS);
            return webSocket;
        } catch (IOException e) {
            closeQuietly(transport);
            throw new RelayException(
                    FailureKind.UNAVAILABLE,
                    "the daemon at " + daemon.argument() + " cannot be reached: " + e.getMessage(),
                    e);
        } catch (RelayException e) {
            closeQuietly(transport);
            throw e;
        }
    }

    /** The next text message, or nothing when the peer closed. Pings are answered on the way. */
    public Optional<String> read() throws IOException {
        ByteArrayOutputStream message = new ByteArrayOutputStream(1024);
        boolean begun = false;
        while (true) {
            int first = begin();
            if (first < 0) {
                return Optional.empty();
            }
            int second = in.readUnsignedByte();
            boolean last = (first & 0x80) != 0;
            int opcode = first & 0x0f;
            if ((first & 0x70) != 0 || (second & 0x80) != 0) {
                throw new IOException("the daemon sent a frame that this client did not agree to");
            }
            long length = second & 0x7f;
            if (length == 126) {
                length = in.readUnsignedShort();
            } else if (length == 127) {
                length = in.readLong();
            }
            boolean control = opcode >= CLOSE;
            if (length < 0
                    || length + message.size() > FrameCodec.MAX_FRAME
                    || control && (length > MAX_CONTROL || !last)) {
                throw new IOException("the daemon sent a frame that is too large");
            }
            byte[] payload = new byte[(int) length];
            in.readFully(payload);
            switch (opcode) {
                case PING -> send(PONG, payload);
                case PONG -> {}
                case CLOSE -> {
                    send(CLOSE, payload);
                    return Optional.empty();
                }
                case TEXT, CONTINUATION -> {
                    if (begun != (opcode == CONTINUATION)) {
                        throw new IOException("the daemon sent message fragments out of order");
                    }
                    begun = true;
                    message.writeBytes(payload);
                    if (last) {
                        return Optional.of(utf8(message.toByteArray()));
                    }
                }
                default -> throw new IOException("the daemon sent a frame of an unsupported kind");
            }
        }
    }

    /** The first byte of the next frame, or -1 at the end; asks a daemon that is silent for too long. */
    private int begin() throws IOException {
        int quiet = socket.getSoTimeout();
        try {
            return in.read();
        } catch (SocketTimeoutException e) {
            send(PING, new byte[0]);
        }
        socket.setSoTimeout(ANSWER_MS);
        try {
            return in.read();
        } finally {
            socket.setSoTimeout(quiet);
        }
    }

    /** Whether both ends are on this machine. */
    private boolean local() {
        return socket.getInetAddress().isLoopbackAddress()
                && socket.getLocalAddress().isLoopbackAddress();
    }

    /** Sends one text message; waits for the frames before it up to 5 s. */
    public void send(String text) throws IOException {
        send(text, WRITE_MS);
    }

    /** The same with a shorter wait. When it is over, so is the connection: frames have an order. */
    public void send(String text, long waitMs) throws IOException {
        send(TEXT, text.getBytes(StandardCharsets.UTF_8), Math.min(waitMs, WRITE_MS));
    }

    /** Closes the connection at once; a reader sees its end. */
    @Override
    public void close() {
        closeQuietly(transport);
    }

    private void send(int opcode, byte[] payload) throws IOException {
        send(opcode, payload, WRITE_MS);
    }

    private void send(int opcode, byte[] payload, long waitMs) throws IOException {
        byte[] frame = masked(opcode, payload);
        try {
            if (!writing.tryLock(waitMs, TimeUnit.MILLISECONDS)) {
                close();
                throw new SocketTimeoutException("the daemon takes nothing");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("interrupted");
        }
        try {
            out.write(frame);
            out.flush();
        } finally {
            writing.unlock();
        }
    }

    private byte[] masked(int opcode, byte[] payload) {
        byte[] mask = ids.octets(4).bytes();
        int extra = payload.length < 126 ? 0 : payload.length <= 0xffff ? 2 : 8;
        ByteBuffer frame = ByteBuffer.allocate(2 + extra + 4 + payload.length);
        frame.put((byte) (0x80 | opcode));
        frame.put((byte) (0x80 | (extra == 0 ? payload.length : extra == 2 ? 126 : 127)));
        if (extra == 2) {
            frame.putShort((short) payload.length);
        } else if (extra == 8) {
            frame.putLong(payload.length);
        }
        frame.put(mask);
        for (int i = 0; i < payload.length; i++) {
            frame.put((byte) (payload[i] ^ mask[i & 3]));
        }
        return frame.array();
    }

    private void upgrade(DaemonUrl daemon, String path) throws IOException {
        String key = Base64.getEncoder().encodeToString(ids.octets(16).bytes());
        String request = "GET " + path + " HTTP/1.1\r\nHost: " + daemon.host() + ":" + daemon.port()
                + "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: "
                + key + "\r\n\r\n";
        out.write(request.getBytes(StandardCharsets.US_ASCII));
        out.flush();
        String head = head();
        int status = status(head);
        if (status == 429) {
            throw new RelayException(
                    FailureKind.LIMIT_REACHED,
                    "the daemon at " + daemon.argument() + " takes no more control connections for a while");
        }
        if (status != 101) {
            throw new IOException("it answers the control path with status " + status);
        }
        if (!accept(key).equals(header(head, "sec-websocket-accept"))) {
            throw new IOException("it does not speak WebSocket");
        }
    }

    private String head() throws IOException {
        StringBuilder head = new StringBuilder(256);
        while (head.length() < 4 || head.charAt(head.length() - 1) != '\n' || head.charAt(head.length() - 3) != '\n') {
            int next = in.read();
            if (next < 0) {
                throw new EOFException("it closed the connection");
            }
            if (head.length() >= MAX_HEAD) {
                throw new IOException("its answer has no end");
            }
            head.append((char) next);
        }
        return head.toString();
    }

    private static int status(String head) throws IOException {
        if (head.startsWith("HTTP/1.1 ") && head.length() > 12) {
            int status = 0;
            for (int i = 9; i < 12; i++) {
                status = status * 10 + Character.digit(head.charAt(i), 10);
            }
            if (status >= 100) {
                return status;
            }
        }
        throw new IOException("it does not speak HTTP/1.1");
    }

    /** The value of a header, or an empty text. */
    private static String header(String head, String name) {
        String lower = head.toLowerCase(Locale.ROOT);
        int at = lower.indexOf("\r\n" + name + ":");
        if (at < 0) {
            return "";
        }
        int start = at + name.length() + 3;
        return head.substring(start, head.indexOf("\r\n", start)).strip();
    }

    private static String accept(String key) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-1")
                    .digest((key + ACCEPT_SUFFIX).getBytes(StandardCharsets.US_ASCII));
            return Base64.getEncoder().encodeToString(digest);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java runtime has SHA-1", e);
        }
    }

    private static Socket connect(DaemonUrl daemon, long deadlineNanos) throws IOException {
        IOException failure = new IOException("its name has no address");
        for (InetAddress address : InetAddress.getAllByName(daemon.hostName())) {
            Socket socket = new Socket();
            try {
                socket.setTcpNoDelay(true);
                socket.setKeepAlive(true);
                socket.connect(new InetSocketAddress(address, daemon.port()), remainingMillis(deadlineNanos));
                return socket;
            } catch (IOException e) {
                closeQuietly(socket);
                failure = e;
            }
        }
        throw failure;
    }

    private static Socket secure(Socket plain, DaemonUrl daemon, ClientTls tls, long deadlineNanos) throws IOException {
        plain.setSoTimeout(remainingMillis(deadlineNanos));
        return tls.over(plain, daemon.hostName(), daemon.port(), "http/1.1");
    }

    private static int remainingMillis(long deadlineNanos) throws IOException {
        long millis = (deadlineNanos - System.nanoTime()) / 1_000_000;
        if (millis <= 0) {
            throw new SocketTimeoutException("no answer in time");
        }
        return (int) Math.min(millis, Integer.MAX_VALUE);
    }

    private static String utf8(byte[] bytes) throws IOException {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            throw new IOException("the daemon sent text that is not UTF-8", e);
        }
    }

    private static void closeQuietly(Socket socket) {
        if (socket != null) {
            try {
                socket.close();
            } catch (IOException e) {
                // it is gone either way
            }
        }
    }
}
