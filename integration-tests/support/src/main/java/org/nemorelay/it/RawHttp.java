package org.nemorelay.it;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** HTTP/1.1 by hand: what was sent and what came back, to the byte. */
public final class RawHttp implements AutoCloseable {
    /** An answer with its headers as they were written and its body without transfer coding. */
    public record Answer(int status, List<Map.Entry<String, String>> headers, byte[] body) {
        public String text() {
            return new String(body, StandardCharsets.UTF_8);
        }

        public List<String> header(String name) {
            return headers.stream()
                    .filter(header -> header.getKey().equalsIgnoreCase(name))
                    .map(Map.Entry::getValue)
                    .toList();
        }
    }

    private final Socket socket;
    private final InputStream in;
    private final List<String> trailers = new ArrayList<>();
    private boolean chunkOpen;

    public RawHttp(int port) {
        this(port, Duration.ofSeconds(30));
    }

    /** @param patience how long a read may take */
    public RawHttp(int port, Duration patience) {
        try {
            socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            socket.setSoTimeout((int) patience.toMillis());
            in = new BufferedInputStream(socket.getInputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static Answer get(int port, String target, String... headers) {
        return request(port, "GET", target, "", headers);
    }

    public static Answer post(int port, String target, String body, String... headers) {
        return request(port, "POST", target, body, headers);
    }

    public static Answer request(int port, String method, String target, String body, String... headers) {
        try (RawHttp http = new RawHttp(port)) {
            http.send(method, target, body, headers);
            return http.answer();
        }
    }

    /** One request with a sized body; headers are whole lines. */
    public RawHttp send(String method, String target, String body, String... headers) {
        StringBuilder head = new StringBuilder(method + " " + target + " HTTP/1.1\r\nhost: 127.0.0.1\r\n");
        for (String header : headers) {
            head.append(header).append("\r\n");
        }
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        if (bytes.length > 0 || method.equals("POST")) {
            head.append("content-length: ").append(bytes.length).append("\r\n");
        }
        return write(head.append("\r\n").toString().getBytes(StandardCharsets.ISO_8859_1))
                .write(bytes);
    }

    public RawHttp write(byte[] bytes) {
        try {
            socket.getOutputStream().write(bytes);
            return this;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The whole next answer. */
    public Answer answer() {
        return body(head());
    }

    /** The answer with this head and the body that follows it. */
    public Answer body(Answer head) {
        ByteArrayOutputStream body = new ByteArrayOutputStream();
        if (head.header("transfer-encoding").contains("chunked")) {
            for (byte[] chunk = chunk(); chunk.length > 0; chunk = chunk()) {
                body.writeBytes(chunk);
            }
        } else {
            List<String> length = head.header("content-length");
            try {
                body.writeBytes(
                        length.isEmpty() ? in.readAllBytes() : in.readNBytes(Integer.parseInt(length.getFirst())));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return new Answer(head.status(), head.headers(), body.toByteArray());
    }

    /** Status line and headers of the next answer; its body stays unread. */
    public Answer head() {
        String[] status = line().split(" ", 3);
        List<Map.Entry<String, String>> headers = new ArrayList<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            int colon = line.indexOf(':');
            headers.add(Map.entry(
                    line.substring(0, colon), line.substring(colon + 1).strip()));
        }
        return new Answer(Integer.parseInt(status[1]), headers, new byte[0]);
    }

    /**
     * The next chunk of a chunked body as soon as its last byte is there, empty at its end. The line end behind a chunk
     * may come with the next one: servers do send it late, and clients do not wait for it.
     */
    public byte[] chunk() {
        try {
            if (chunkOpen) {
                line();
            }
            int size = Integer.parseInt(line().split(";")[0].strip(), 16);
            byte[] data = in.readNBytes(size);
            if (data.length < size) {
                throw new IOException("end of input within a chunk");
            }
            if (size == 0) {
                trailers.clear();
                for (String trailer = line(); !trailer.isEmpty(); trailer = line()) {
                    trailers.add(trailer);
                }
            }
            chunkOpen = size > 0;
            return data;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Up to so many bytes of a body, as they arrive; empty at the end of input. */
    public byte[] some(int most) {
        try {
            byte[] data = new byte[most];
            int count = in.read(data);
            return Arrays.copyOf(data, Math.max(count, 0));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The trailer lines of the last chunked body. */
    public List<String> trailers() {
        return List.copyOf(trailers);
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String line() {
        try {
            ByteArrayOutputStream line = new ByteArrayOutputStream();
            while (true) {
                int next = in.read();
                if (next < 0) {
                    throw new IOException("end of input after: " + line.toString(StandardCharsets.ISO_8859_1));
                }
                if (next == '\n') {
                    return line.toString(StandardCharsets.ISO_8859_1).stripTrailing();
                }
                line.write(next);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
