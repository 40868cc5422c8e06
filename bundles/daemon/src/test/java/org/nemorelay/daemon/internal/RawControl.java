package org.nemorelay.daemon.internal;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** A control connection spoken frame by frame, from a loopback address of the caller's choice. */
final class RawControl implements AutoCloseable {
    static final int CONTINUATION = 0;
    static final int TEXT = 1;
    static final int CLOSE = 8;
    static final int PING = 9;
    static final int PONG = 10;

    private static final String HEAD = " HTTP/1.1\r\nhost: relay\r\nconnection: upgrade\r\nupgrade: websocket\r\n"
            + "sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n";

    private final Socket socket = new Socket();
    private final DataInputStream in;
    private boolean over;

    /** What came: one text frame, a ping or pong, nothing in time, or the end. */
    record Event(Kind kind, String text) {
        enum Kind {
            TEXT,
            PING,
            PONG,
            NOTHING,
            CLOSED
        }
    }

    RawControl(int port, String path, String from) throws IOException {
        this(port, path, from, "");
    }

    /** @param header one more line of the head, or none */
    RawControl(int port, String path, String from, String header) throws IOException {
        socket.bind(new InetSocketAddress(InetAddress.getByName(from), 0));
        socket.connect(new InetSocketAddress("127.0.0.1", port));
        socket.setTcpNoDelay(true);
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        write(("GET " + path + (header.isEmpty() ? HEAD : HEAD.replaceFirst("\r\n", "\r\n" + header + "\r\n")))
                .getBytes(StandardCharsets.ISO_8859_1));
        socket.setSoTimeout(20_000);
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            head.append((char) in.readUnsignedByte());
        }
        if (!head.toString().contains(" 101 ")) {
            throw new IOException("no upgrade: " + head);
        }
    }

    /** Sends a frame; a peer that has closed already is not a failure here, the next event tells. */
    void send(int opcode, boolean fin, byte[] payload) {
        byte[] frame = new byte[payload.length + 14];
        int n = 0;
        frame[n++] = (byte) ((fin ? 0x80 : 0) | opcode);
        if (payload.length < 126) {
            frame[n++] = (byte) (0x80 | payload.length);
        } else if (payload.length < 65_536) {
            frame[n++] = (byte) (0x80 | 126);
            frame[n++] = (byte) (payload.length >> 8);
            frame[n++] = (byte) payload.length;
        } else {
            frame[n++] = (byte) (0x80 | 127);
            for (int shift = 56; shift >= 0; shift -= 8) {
                frame[n++] = (byte) ((long) payload.length >> shift);
            }
        }
        n += 4; // a mask of zeroes
        System.arraycopy(payload, 0, frame, n, payload.length);
        try {
            socket.getOutputStream().write(frame, 0, n + payload.length);
        } catch (IOException e) {
            // closed
        }
    }

    void send(String text) {
        send(TEXT, true, text.getBytes(StandardCharsets.UTF_8));
    }

    private void write(byte[] bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** The next event within the time; directives and drains are acknowledged and passed over by {@link #reply}. */
    Event next(int millis) {
        if (over) {
            return new Event(Event.Kind.CLOSED, "");
        }
        try {
            socket.setSoTimeout(millis);
            int first = in.readUnsignedByte();
            socket.setSoTimeout(20_000);
            int length = in.readUnsignedByte();
            long size = length == 126 ? in.readUnsignedShort() : length == 127 ? in.readLong() : length;
            byte[] payload = in.readNBytes((int) size);
            return switch (first & 15) {
                case TEXT -> new Event(Event.Kind.TEXT, new String(payload, StandardCharsets.UTF_8));
                case PING -> new Event(Event.Kind.PING, "");
                case PONG -> new Event(Event.Kind.PONG, "");
                default -> end();
            };
        } catch (SocketTimeoutException e) {
            return new Event(Event.Kind.NOTHING, "");
        } catch (IOException e) {
            return end();
        }
    }

    private Event end() {
        over = true;
        return new Event(Event.Kind.CLOSED, "");
    }

    /** The port of this end. */
    int port() {
        return socket.getLocalPort();
    }

    /** Ends without a word, as a process that is gone does whose machine still answers. */
    void reset() throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    boolean over() {
        return over;
    }

    /** The next reply, or that there is none: what else the daemon has to say is acknowledged. */
    Event reply(int millis) {
        while (true) {
            Event event = next(millis);
            if (event.kind() != Event.Kind.TEXT) {
                return event;
            }
            JsonObject frame = Json.parseObject(event.text());
            if (frame.string("type").equals("reply")) {
                if (!frame.string("request_id").startsWith("ack-")) {
                    return event;
                }
            } else {
                heard(frame);
                String id = frame.string("request_id");
                send("{\"request_id\":\"ack-" + id
                        + "\",\"command\":{\"type\":\"acknowledge\",\"payload\":{\"request_id\":\"" + id + "\"}}}");
            }
        }
    }

    /** A directive or drain has come. */
    void heard(JsonObject frame) {}

    @Override
    public void close() {
        over = true;
        try {
            socket.close();
        } catch (IOException e) {
            // closed is closed
        }
    }
}
