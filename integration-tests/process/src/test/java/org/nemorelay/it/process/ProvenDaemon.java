package org.nemorelay.it.process;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.nemorelay.protocol.ListenerProof;

/** A listener that proves to know the user's token, keeps the bytes of each hook's body, and answers or hangs up. */
final class ProvenDaemon implements AutoCloseable {
    private final ServerSocket server;
    private final String token;
    private final String answer;
    private final AtomicInteger connections = new AtomicInteger();
    private final List<byte[]> bodies = new CopyOnWriteArrayList<>();

    /** @param answer the body of every answer; empty to hang up instead, when the body has arrived */
    ProvenDaemon(String token, String answer) throws IOException {
        this.server = new ServerSocket(0, 16, InetAddress.getByName("127.0.0.1"));
        this.token = token;
        this.answer = answer;
        Thread.ofPlatform().daemon().name("proven-daemon").start(this::accept);
    }

    private void accept() {
        while (!server.isClosed()) {
            try (Socket socket = server.accept()) {
                connections.incrementAndGet();
                serve(socket);
            } catch (IOException e) {
                // The hook or the test has left.
            }
        }
    }

    private void serve(Socket socket) throws IOException {
        InputStream in = new BufferedInputStream(socket.getInputStream());
        String question = head(in);
        byte[] nonce =
                ListenerProof.bytes(value(question, ListenerProof.NONCE_HEADER)).orElseThrow();
        write(
                socket,
                ListenerProof.answer(
                        token,
                        nonce,
                        new byte[ListenerProof.NONCE_LENGTH],
                        ListenerProof.origin(socket.getLocalAddress(), socket.getLocalPort())));
        int length = Integer.parseInt(value(head(in), "content-length"));
        bodies.add(in.readNBytes(length));
        if (!answer.isEmpty()) {
            write(socket, answer.getBytes(StandardCharsets.UTF_8));
        }
    }

    private static String head(InputStream in) throws IOException {
        ByteArrayOutputStream head = new ByteArrayOutputStream();
        byte[] end = {'\r', '\n', '\r', '\n'};
        while (head.size() < 4
                || !Arrays.equals(Arrays.copyOfRange(head.toByteArray(), head.size() - 4, head.size()), end)) {
            int next = in.read();
            if (next < 0) {
                throw new IOException("half a head");
            }
            head.write(next);
        }
        return head.toString(StandardCharsets.ISO_8859_1);
    }

    private static String value(String head, String name) {
        return head.lines()
                .filter(line -> line.toLowerCase(Locale.ROOT).startsWith(name + ":"))
                .map(line -> line.substring(name.length() + 1).strip())
                .findFirst()
                .orElseThrow();
    }

    private static void write(Socket socket, byte[] body) throws IOException {
        socket.getOutputStream()
                .write(("HTTP/1.1 200 OK\r\ncontent-length: " + body.length + "\r\n\r\n")
                        .getBytes(StandardCharsets.ISO_8859_1));
        socket.getOutputStream().write(body);
    }

    String address() {
        return "http://127.0.0.1:" + server.getLocalPort();
    }

    int connections() {
        return connections.get();
    }

    List<byte[]> bodies() {
        return bodies;
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
