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
import java.util.Locale;

/** A provider of long streams: each event is one write. */
final class LongStreams implements AutoCloseable {
    private static final byte[] HEAD =
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"
                    .getBytes(StandardCharsets.US_ASCII);
    private static final byte[] EVENT;

    static {
        String event =
                "data: {\"id\":\"c1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word \"}}]}\n\n";
        EVENT = (Integer.toHexString(event.length()) + "\r\n" + event + "\r\n").getBytes(StandardCharsets.US_ASCII);
    }

    static final int EVENTS = 10_000;

    private static final String BODY =
            "{\"model\":\"mock-model\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"say hi\"}]}";

    private final ServerSocket server;

    LongStreams() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofPlatform().daemon().start(this::accept);
    }

    String origin() {
        return "http://127.0.0.1:" + server.getLocalPort();
    }

    private void accept() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                socket.setTcpNoDelay(true);
                Thread.ofPlatform().daemon().start(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private static void serve(Socket socket) {
        try (socket) {
            InputStream in = new BufferedInputStream(socket.getInputStream());
            OutputStream out = socket.getOutputStream();
            while (request(in)) {
                out.write(HEAD);
                for (int i = 0; i < EVENTS; i++) {
                    out.write(EVENT);
                }
                out.write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            }
        } catch (IOException e) {
            // The relay closed it.
        }
    }

    private static boolean request(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int b = in.read();
            if (b < 0) {
                return false;
            }
            head.append((char) b);
        }
        int length = head.toString()
                .toLowerCase(Locale.ROOT)
                .lines()
                .filter(line -> line.startsWith("content-length:"))
                .mapToInt(line -> Integer.parseInt(line.substring(15).strip()))
                .findFirst()
                .orElse(0);
        in.skipNBytes(length);
        return true;
    }

    /** Milliseconds until such a stream is read through the relay at this port, with this line in its head. */
    static double millis(int port, String header) {
        long begin = System.nanoTime();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setTcpNoDelay(true);
            socket.getOutputStream()
                    .write(("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
                                    + header + "\r\ncontent-length: " + BODY.length() + "\r\n\r\n" + BODY)
                            .getBytes(StandardCharsets.US_ASCII));
            InputStream in = socket.getInputStream();
            byte[] buffer = new byte[64 * 1024];
            String tail = "";
            while (!tail.endsWith("0\r\n\r\n")) {
                int count = in.read(buffer);
                if (count < 0) {
                    throw new IOException("the stream broke off");
                }
                String read = new String(buffer, Math.max(0, count - 8), Math.min(count, 8), StandardCharsets.US_ASCII);
                tail = (tail + read).substring(Math.max(0, tail.length() + read.length() - 8));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return (System.nanoTime() - begin) / 1e6;
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
