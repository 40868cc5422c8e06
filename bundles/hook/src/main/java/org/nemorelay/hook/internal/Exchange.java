package org.nemorelay.hook.internal;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.Headers;
import org.nemorelay.protocol.RouteToken;

/**
 * One POST over HTTP/1.1 on a connection of its own, written by hand: a general client costs a short-lived process more
 * than the whole exchange. Blocks without a deadline of its own; the process has one.
 */
public final class Exchange {
    private static final int MAX_HEAD_BYTES = 64 << 10;
    private static final int MAX_BODY_BYTES = 1 << 20;

    /** What the daemon answered. */
    public record Answer(int status, byte[] body) {}

    private Exchange() {}

    /** Sends the payload and returns the answer. */
    public static Answer post(DaemonUrl daemon, String path, RouteToken token, String operation, byte[] payload)
            throws HookFailure {
        try (Socket socket = connect(daemon)) {
            IOException unsent = null;
            try {
                StringBuilder head = new StringBuilder(512);
                head.append("POST ").append(path).append(" HTTP/1.1\r\n");
                head.append("host: ").append(authority(daemon)).append("\r\n");
                head.append("content-type: application/json\r\n");
                head.append("content-length: ").append(payload.length).append("\r\n");
                head.append(Headers.CLIENT_TOKEN)
                        .append(": ")
                        .append(token.text())
                        .append("\r\n");
                head.append(Headers.OPERATION_ID).append(": ").append(operation).append("\r\n");
                head.append("connection: close\r\n\r\n");
                send(socket, head.toString().getBytes(StandardCharsets.ISO_8859_1), payload);
            } catch (IOException e) {
                unsent = e; // The daemon may have refused the payload with an answer before it closed.
            }
            try {
                return read(new BufferedInputStream(socket.getInputStream(), 8_192));
            } catch (IOException e) {
                throw HookFailure.delivery(
                        "the hook's delivery to " + daemon + " is in doubt: " + text(unsent == null ? e : unsent));
            }
        } catch (IOException e) {
            throw HookFailure.delivery("failed to connect to daemon " + daemon + ": " + text(e));
        }
    }

    private static Socket connect(DaemonUrl daemon) throws IOException {
        IOException last = null;
        for (InetAddress address : InetAddress.getAllByName(daemon.hostName())) {
            Socket socket = new Socket();
            try {
                socket.setTcpNoDelay(true);
                socket.connect(new InetSocketAddress(address, daemon.port()));
                return daemon.secure() ? SecureSockets.over(socket, daemon) : socket;
            } catch (IOException e) {
                socket.close();
                last = e;
            }
        }
        throw last == null ? new IOException("the host has no address") : last;
    }

    private static String authority(DaemonUrl daemon) {
        String origin = daemon.origin();
        return origin.substring(origin.indexOf("://") + 3);
    }

    /** Head and a small payload leave in one write. */
    private static void send(Socket socket, byte[] head, byte[] payload) throws IOException {
        if (payload.length <= 64 << 10) {
            byte[] all = new byte[head.length + payload.length];
            System.arraycopy(head, 0, all, 0, head.length);
            System.arraycopy(payload, 0, all, head.length, payload.length);
            socket.getOutputStream().write(all);
        } else {
            socket.getOutputStream().write(head);
            socket.getOutputStream().write(payload);
        }
    }

    static Answer read(InputStream in) throws IOException, HookFailure {
        while (true) {
            int status = status(line(in));
            boolean chunked = false;
            long length = -1;
            int left = MAX_HEAD_BYTES;
            for (String line = line(in); !line.isEmpty(); line = line(in)) {
                left -= line.length();
                int colon = line.indexOf(':');
                if (colon < 1 || left < 0) {
                    throw new IOException("the answer's head is malformed");
                }
                String name = line.substring(0, colon);
                String value = line.substring(colon + 1).strip();
                if (name.equalsIgnoreCase("transfer-encoding")) {
                    chunked = value.equalsIgnoreCase("chunked");
                    if (!chunked) {
                        throw new IOException("the answer has an unknown transfer encoding");
                    }
                } else if (name.equalsIgnoreCase("content-length")) {
                    length = number(value, 10);
                }
            }
            if (status >= 200) {
                return new Answer(status, body(in, status, chunked, length));
            }
            if (status == 101) {
                throw new IOException("the answer changes the protocol");
            }
        }
    }

    private static byte[] body(InputStream in, int status, boolean chunked, long length)
            throws IOException, HookFailure {
        if (status == 204 || status == 304) {
            return new byte[0];
        }
        if (chunked) {
            return chunks(in);
        }
        if (length > MAX_BODY_BYTES) {
            throw answerTooLarge();
        }
        byte[] body = in.readNBytes(length < 0 ? MAX_BODY_BYTES + 1 : (int) length);
        if (length < 0 && body.length > MAX_BODY_BYTES) {
            throw answerTooLarge();
        }
        if (body.length < length) {
            throw new EOFException("the answer ended early");
        }
        return body;
    }

    private static byte[] chunks(InputStream in) throws IOException, HookFailure {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        while (true) {
            String line = line(in);
            int extension = line.indexOf(';');
            long size = number((extension < 0 ? line : line.substring(0, extension)).strip(), 16);
            if (size == 0) {
                return body.toByteArray(); // Trailers mean nothing here, and the connection ends.
            }
            if (body.size() + size > MAX_BODY_BYTES) {
                throw answerTooLarge();
            }
            byte[] chunk = in.readNBytes((int) size);
            if (chunk.length < size || !line(in).isEmpty()) {
                throw new EOFException("the answer ended early");
            }
            body.write(chunk);
        }
    }

    private static HookFailure answerTooLarge() {
        return HookFailure.delivery("the answer is larger than 1 MiB");
    }

    private static int status(String line) throws IOException {
        if (!line.startsWith("HTTP/1.") || line.length() < 12 || line.charAt(8) != ' ') {
            throw new IOException("the answer is not HTTP/1.1");
        }
        long status = number(line.substring(9, 12), 10);
        if (status < 100) {
            throw new IOException("the answer is not HTTP/1.1");
        }
        return (int) status;
    }

    private static long number(String digits, int radix) throws IOException {
        if (digits.isEmpty() || digits.length() > 15) {
            throw new IOException("the answer holds a malformed number");
        }
        long value = 0;
        for (int i = 0; i < digits.length(); i++) {
            int digit = Character.digit(digits.charAt(i), radix);
            if (digit < 0) {
                throw new IOException("the answer holds a malformed number");
            }
            value = value * radix + digit;
        }
        return value;
    }

    /** One line of the head, without its end. */
    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder(64);
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new EOFException("the answer ended early");
            }
            if (line.length() == MAX_HEAD_BYTES) {
                throw new IOException("the answer's head is malformed");
            }
            line.append((char) c);
        }
        int end = line.length();
        return end > 0 && line.charAt(end - 1) == '\r' ? line.substring(0, end - 1) : line.toString();
    }

    private static String text(IOException e) {
        return e.getMessage() == null ? e.getClass().getName() : e.getMessage();
    }
}
