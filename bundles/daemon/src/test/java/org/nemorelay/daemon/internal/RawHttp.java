package org.nemorelay.daemon.internal;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** One HTTP/1.1 connection, spoken byte by byte. */
final class RawHttp implements AutoCloseable {
    private final Socket socket;
    private final InputStream in;

    /** The line end after a chunk may come with the next one only. */
    private boolean chunkOpen;

    /** An answer; header lines as they came. */
    record Answer(int status, List<String> headers, String body) {
        String header(String name) {
            String prefix = name.toLowerCase(Locale.ROOT) + ":";
            return headers.stream()
                    .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(prefix))
                    .map(line -> line.substring(prefix.length()).strip())
                    .findFirst()
                    .orElse("");
        }

        /** Lower case; a repeated name is an error. */
        Set<String> names() {
            return headers.stream()
                    .map(line -> line.substring(0, line.indexOf(':')).toLowerCase(Locale.ROOT))
                    .collect(Collectors.collectingAndThen(
                            Collectors.toList(), names -> Set.of(names.toArray(String[]::new))));
        }
    }

    RawHttp(int port) throws IOException {
        socket = new Socket("127.0.0.1", port);
        socket.setSoTimeout(20_000);
        in = new BufferedInputStream(socket.getInputStream());
    }

    static Answer once(int port, String request) throws IOException {
        try (RawHttp http = new RawHttp(port)) {
            return http.exchange(request);
        }
    }

    static String get(String target, String... headers) {
        return head("GET", target, headers) + "\r\n";
    }

    static String post(String target, String body, String... headers) {
        return head("POST", target, headers) + "content-length: " + body.length() + "\r\n\r\n" + body;
    }

    static String head(String method, String target, String... headers) {
        StringBuilder text = new StringBuilder(method + " " + target + " HTTP/1.1\r\nhost: relay\r\n");
        for (String header : headers) {
            text.append(header).append("\r\n");
        }
        return text.toString();
    }

    Answer exchange(String request) throws IOException {
        send(request);
        Answer head = head();
        boolean bodiless = request.startsWith("HEAD") || head.status() == 204 || head.status() == 101;
        return new Answer(head.status(), head.headers(), bodiless ? "" : body(head));
    }

    void send(String bytes) throws IOException {
        socket.getOutputStream().write(bytes.getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().flush();
    }

    Answer head() throws IOException {
        int status = Integer.parseInt(line().split(" ")[1]);
        List<String> headers = new ArrayList<>();
        for (String line = line(); !line.isEmpty(); line = line()) {
            headers.add(line);
        }
        return new Answer(status, headers, "");
    }

    private String body(Answer head) throws IOException {
        if (!head.header("content-length").isEmpty()) {
            return new String(
                    in.readNBytes(Integer.parseInt(head.header("content-length"))), StandardCharsets.ISO_8859_1);
        }
        StringBuilder body = new StringBuilder();
        for (String chunk = chunk(); !chunk.isEmpty(); chunk = chunk()) {
            body.append(chunk);
        }
        return body.toString();
    }

    /** The next chunk of a chunked body; empty at its end. */
    String chunk() throws IOException {
        if (chunkOpen) {
            line();
        }
        int size = Integer.parseInt(line(), 16);
        chunkOpen = size > 0;
        if (size == 0) {
            line();
        }
        return new String(in.readNBytes(size), StandardCharsets.ISO_8859_1);
    }

    private String line() throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new IOException("connection closed after: " + line);
            }
            if (c != '\r') {
                line.write(c);
            }
        }
        return line.toString(StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
