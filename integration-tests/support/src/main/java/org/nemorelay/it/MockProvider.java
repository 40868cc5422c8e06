package org.nemorelay.it;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;

/** A model provider on loopback that answers as it is told, to the byte, and keeps what it received. HTTP/1.1 only. */
public final class MockProvider implements AutoCloseable {
    /** One request as it arrived; header names as they were written. */
    public record Received(String method, String target, List<Map.Entry<String, String>> headers, byte[] body) {
        public String bodyText() {
            return new String(body, StandardCharsets.UTF_8);
        }

        public List<String> header(String name) {
            return headers.stream()
                    .filter(header -> header.getKey().equalsIgnoreCase(name))
                    .map(Map.Entry::getValue)
                    .toList();
        }

        public String path() {
            int query = target.indexOf('?');
            return query < 0 ? target : target.substring(0, query);
        }
    }

    /** Writes the answer to one request. */
    public interface Responder {
        void respond(Received request, Reply reply) throws Exception;
    }

    private final ServerSocket server;
    private final List<Received> received = new CopyOnWriteArrayList<>();
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private final Map<String, Responder> responders = new LinkedHashMap<>();

    public MockProvider() {
        try {
            server = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        respond("/v1/messages", Answers.anthropicStream("MOCK-FINAL-TEXT"));
        respond("/v1/responses", Answers.responsesStream("MOCK-FINAL-TEXT"));
        respond("/v1/chat/completions", Answers.chatStream("MOCK-FINAL-TEXT"));
        Thread.ofVirtual().name("mock-provider").start(this::accept);
    }

    public int port() {
        return server.getLocalPort();
    }

    public String origin() {
        return "http://127.0.0.1:" + port();
    }

    public synchronized MockProvider respond(String path, Responder responder) {
        responders.put(path, responder);
        return this;
    }

    public List<Received> received() {
        return List.copyOf(received);
    }

    public List<Received> received(String path) {
        return received.stream().filter(request -> request.path().equals(path)).toList();
    }

    @Override
    public void close() {
        try {
            server.close();
            for (Socket socket : open) {
                socket.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private synchronized Optional<Responder> responder(String path) {
        return Optional.ofNullable(responders.get(path));
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                open.add(socket);
                Thread.ofVirtual().name("mock-provider-connection").start(() -> serve(socket));
            } catch (IOException e) {
                if (!server.isClosed()) {
                    throw new UncheckedIOException(e);
                }
            }
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            while (true) {
                Optional<Received> request = read(in, socket.getOutputStream());
                if (request.isEmpty()) {
                    return;
                }
                received.add(request.get());
                Reply reply = new Reply(socket.getOutputStream());
                responder(request.get().path())
                        .orElse((ignored, answer) ->
                                answer.sized(404, "application/json", "{\"error\":{\"message\":\"no such path\"}}"))
                        .respond(request.get(), reply);
                if (reply.closes()) {
                    return;
                }
            }
        } catch (Exception e) {
            // The peer went away or the answer was cut on purpose: the test sees it from its own side.
        } finally {
            open.remove(socket);
        }
    }

    private static Optional<Received> read(InputStream in, OutputStream out) throws IOException {
        String start = line(in);
        if (start == null) {
            return Optional.empty();
        }
        List<Map.Entry<String, String>> headers = new ArrayList<>();
        for (String line = line(in); line != null && !line.isEmpty(); line = line(in)) {
            int colon = line.indexOf(':');
            headers.add(Map.entry(
                    line.substring(0, colon), line.substring(colon + 1).strip()));
        }
        String[] words = start.split(" ");
        Received head = new Received(words[0], words[1], headers, new byte[0]);
        if (!head.header("expect").isEmpty()) {
            out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
        }
        return Optional.of(new Received(words[0], words[1], List.copyOf(headers), body(in, head)));
    }

    private static byte[] body(InputStream in, Received head) throws IOException {
        if (head.header("transfer-encoding").contains("chunked")) {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            while (true) {
                int size = Integer.parseInt(line(in).split(";")[0].strip(), 16);
                if (size == 0) {
                    String trailer = line(in);
                    while (trailer != null && !trailer.isEmpty()) {
                        trailer = line(in);
                    }
                    return body.toByteArray();
                }
                body.write(in.readNBytes(size));
                line(in);
            }
        }
        List<String> length = head.header("content-length");
        return length.isEmpty() ? new byte[0] : in.readNBytes(Integer.parseInt(length.getFirst()));
    }

    private static String line(InputStream in) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        while (true) {
            int next = in.read();
            if (next < 0) {
                if (line.size() == 0) {
                    return null;
                }
                throw new EOFException("half a line");
            }
            if (next == '\n') {
                String text = line.toString(StandardCharsets.ISO_8859_1);
                return text.endsWith("\r") ? text.substring(0, text.length() - 1) : text;
            }
            line.write(next);
        }
    }
}
