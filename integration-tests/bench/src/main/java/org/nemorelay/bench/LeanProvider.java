package org.nemorelay.bench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;

/** A provider that costs as little as possible: fixed answers, nothing kept. The path decides which. */
final class LeanProvider implements AutoCloseable {
    static final int EVENTS = 128;
    static final int BIG = 1 << 20;

    private static final byte[] SMALL = sized(new byte[200]);
    private static final byte[] LARGE = sized(new byte[BIG]);
    private static final byte[] STREAM_HEAD =
            ascii("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    private static final byte[] EVENT =
            ascii("7e\r\nevent: content_block_delta\ndata: {\"delta\":\"" + "x".repeat(79) + "\"}\n\n\r\n");
    private static final byte[] STREAM_END = ascii("0\r\n\r\n");

    private final ServerSocket server;

    LeanProvider() {
        try {
            server = new ServerSocket(0, 1024, InetAddress.getLoopbackAddress());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().name("provider").start(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    String origin() {
        return "http://127.0.0.1:" + port();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                Thread.ofVirtual().start(() -> serve(socket));
            } catch (IOException closed) {
                return;
            }
        }
    }

    private static void serve(Socket socket) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream(), 16 * 1024);
            OutputStream out = socket.getOutputStream();
            for (Wire.Head head = Wire.head(in); head != null; head = Wire.head(in)) {
                Wire.skipBody(in, head);
                switch (head.start().split(" ")[1]) {
                    case "/v1/messages" -> out.write(SMALL);
                    case "/v1/messages/count_tokens" -> out.write(LARGE);
                    default -> {
                        out.write(STREAM_HEAD);
                        for (int i = 0; i < EVENTS; i++) {
                            out.write(EVENT);
                        }
                        out.write(STREAM_END);
                    }
                }
            }
        } catch (IOException gone) {
            return;
        }
    }

    private static byte[] sized(byte[] body) {
        byte[] head = ascii(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: " + body.length + "\r\n\r\n");
        byte[] answer = java.util.Arrays.copyOf(head, head.length + body.length);
        java.util.Arrays.fill(answer, head.length, answer.length, (byte) 'x');
        return answer;
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
