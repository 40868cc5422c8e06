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
import java.time.Duration;
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

    /** Serves a connection from the end of one request's head on, to the byte; the connection ends when it returns. */
    public interface Script {
        void serve(Received head, Connection connection) throws Exception;
    }

    /** The provider's side of one connection. */
    public static final class Connection {
        private final Socket socket;
        private final InputStream in;

        private Connection(Socket socket, InputStream in) {
            this.socket = socket;
            this.in = in;
        }

        public InputStream in() {
            return in;
        }

        /** The body that belongs to this head; trailer lines are added to {@code trailers}. */
        public byte[] body(Received head, List<String> trailers) throws IOException {
            return MockProvider.body(in, head, trailers);
        }

        /** An answer that announces the connection's end. */
        public Reply reply() throws IOException {
            return new Reply(socket.getOutputStream(), "connection: close");
        }

        /** An answer after which the connection looks as if it could be used again. */
        public Reply keepAliveReply() throws IOException {
            return new Reply(socket.getOutputStream());
        }

        /** The next request's head on this connection; empty when the peer closed it. */
        public Optional<Received> nextHead() throws IOException {
            return head(in);
        }

        /** Waits until the peer closes and tells how long that took. */
        public Duration untilClosed() {
            long start = System.nanoTime();
            try {
                while (in.read() >= 0) {
                    // What still arrives of the request.
                }
            } catch (IOException e) {
                // Closed, too.
            }
            return Duration.ofNanos(System.nanoTime() - start);
        }

        /** Ends the connection by a reset. */
        public void reset() throws IOException {
            socket.setSoLinger(true, 0);
            socket.close();
        }
    }

    private final ServerSocket server;
    private final List<Received> received = new CopyOnWriteArrayList<>();
    private final List<Socket> open = new CopyOnWriteArrayList<>();
    private final Map<String, Responder> responders = new LinkedHashMap<>();
    private final Map<String, Script> scripts = new LinkedHashMap<>();

    public MockProvider() {
        this(loopback());
    }

    /** On a socket of the caller's, such as one that speaks TLS. */
    public MockProvider(ServerSocket server) {
        this.server = server;
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
        scripts.remove(path);
        responders.put(path, responder);
        return this;
    }

    /** Requests to this path are neither read nor kept here: the script does what it wants with the connection. */
    public synchronized MockProvider script(String path, Script script) {
        scripts.put(path, script);
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

    private static ServerSocket loopback() {
        try {
            return new ServerSocket(0, 1024, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private synchronized Optional<Script> script(String path) {
        return Optional.ofNullable(scripts.get(path));
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
                Optional<Received> head = head(in);
                if (head.isEmpty()) {
                    return;
                }
                Optional<Script> script = script(head.get().path());
                if (script.isPresent()) {
                    script.get().serve(head.get(), new Connection(socket, in));
                    return;
                }
                Optional<Received> request = Optional.of(whole(head.get(), in, socket.getOutputStream()));
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

    private static Optional<Received> head(InputStream in) throws IOException {
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
        return Optional.of(new Received(words[0], words[1], List.copyOf(headers), new byte[0]));
    }

    private static Received whole(Received head, InputStream in, OutputStream out) throws IOException {
        if (!head.header("expect").isEmpty()) {
            out.write("HTTP/1.1 100 Continue\r\n\r\n".getBytes(StandardCharsets.ISO_8859_1));
            out.flush();
        }
        return new Received(head.method(), head.target(), head.headers(), body(in, head, new ArrayList<>()));
    }

    private static byte[] body(InputStream in, Received head, List<String> trailers) throws IOException {
        if (head.header("transfer-encoding").contains("chunked")) {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            while (true) {
                int size = Integer.parseInt(line(in).split(";")[0].strip(), 16);
                if (size == 0) {
                    String trailer = line(in);
                    while (trailer != null && !trailer.isEmpty()) {
                        trailers.add(trailer);
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
