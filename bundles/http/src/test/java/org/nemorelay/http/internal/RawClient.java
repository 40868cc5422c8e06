package org.nemorelay.http.internal;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** An HTTP/1.1 client of a plain socket. */
final class RawClient implements AutoCloseable {
    final Socket socket;
    final InputStream in;
    final OutputStream out;

    RawClient(int port) throws IOException {
        socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.setSoTimeout(30_000);
        socket.setTcpNoDelay(true);
        in = new BufferedInputStream(socket.getInputStream(), 65536);
        out = socket.getOutputStream();
    }

    record Answer(String head, byte[] body, List<String> trailers) {
        int status() {
            return Integer.parseInt(head.substring(9, 12));
        }

        List<String> header(String name) {
            List<String> values = new ArrayList<>();
            for (String line : head.split("\r\n")) {
                int colon = line.indexOf(':');
                if (colon > 0 && line.substring(0, colon).equalsIgnoreCase(name)) {
                    values.add(line.substring(colon + 1).trim());
                }
            }
            return values;
        }

        String text() {
            return new String(body, StandardCharsets.UTF_8);
        }
    }

    RawClient send(String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.ISO_8859_1));
        out.flush();
        return this;
    }

    String readHead() throws IOException {
        String head = new RawProvider.Exchange(socket, in, out).head();
        if (head == null) {
            throw new EOFException("no response head");
        }
        return head;
    }

    /** A whole response; its body by length or in chunks, or none where the request was HEAD. */
    Answer read(boolean head) throws IOException {
        String answered = readHead();
        List<String> trailers = new ArrayList<>();
        Answer bare = new Answer(answered, new byte[0], trailers);
        if (head || bare.status() == 204 || bare.status() == 304 || bare.status() < 200) {
            return bare;
        }
        if (!bare.header("transfer-encoding").isEmpty()) {
            return new Answer(answered, readChunked(in, trailers), trailers);
        }
        List<String> length = bare.header("content-length");
        if (length.isEmpty()) {
            return new Answer(answered, in.readAllBytes(), trailers);
        }
        byte[] body = in.readNBytes(Integer.parseInt(length.getFirst()));
        if (body.length < Integer.parseInt(length.getFirst())) {
            throw new EOFException("body of " + body.length + " bytes, announced " + length.getFirst());
        }
        return new Answer(answered, body, trailers);
    }

    Answer read() throws IOException {
        return read(false);
    }

    /** The next chunk, empty at the end of the body. */
    byte[] readChunk() throws IOException {
        return chunk(in);
    }

    // A chunk's closing CRLF may come only with the next chunk, so it is skipped before the size line.
    private static byte[] chunk(InputStream in) throws IOException {
        String line = line(in);
        int size = Integer.parseInt((line.isEmpty() ? line(in) : line).trim(), 16);
        byte[] bytes = in.readNBytes(size);
        if (bytes.length < size) {
            throw new EOFException("broken chunk");
        }
        return bytes;
    }

    static byte[] readChunked(InputStream in, List<String> trailers) throws IOException {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        for (byte[] bytes = chunk(in); bytes.length > 0; bytes = chunk(in)) {
            body.write(bytes);
        }
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            trailers.add(
                    line.substring(0, line.indexOf(':')).toLowerCase(Locale.ROOT) + line.substring(line.indexOf(':')));
        }
        return body.toByteArray();
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int next = in.read(); next != '\n'; next = in.read()) {
            if (next < 0) {
                throw new EOFException("connection closed within a body");
            }
            if (next != '\r') {
                line.append((char) next);
            }
        }
        return line.toString();
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
