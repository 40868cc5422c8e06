package org.nemorelay.worker.internal;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CopyOnWriteArrayList;

/** A provider, byte by byte: a request on each connection, which is kept, and a script that answers. */
final class FakeProvider implements AutoCloseable {
    /** What comes after a request was read. */
    interface Script {
        void run(InputStream in, OutputStream out) throws Exception;
    }

    /** Heads in the order in which they came. */
    final List<String> requests = new CopyOnWriteArrayList<>();

    final List<byte[]> bodies = new CopyOnWriteArrayList<>();
    volatile Script script;
    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());

    FakeProvider(Script script) throws IOException {
        this.script = script;
        Thread.ofPlatform().daemon().start(this::serve);
    }

    String url() {
        return "http://127.0.0.1:" + server.getLocalPort();
    }

    private void serve() {
        while (!server.isClosed()) {
            try {
                Socket socket = server.accept();
                Thread.ofVirtual().start(() -> {
                    try (socket) {
                        String head = head(socket.getInputStream());
                        requests.add(head);
                        bodies.add(socket.getInputStream().readNBytes(length(head)));
                        script.run(socket.getInputStream(), socket.getOutputStream());
                    } catch (Exception e) {
                        // The client's side of it fails the test.
                    }
                });
            } catch (IOException e) {
                return;
            }
        }
    }

    static String head(InputStream in) throws IOException {
        StringBuilder head = new StringBuilder();
        while (head.indexOf("\r\n\r\n") < 0) {
            int b = in.read();
            if (b < 0) {
                throw new IOException("closed");
            }
            head.append((char) b);
        }
        return head.toString();
    }

    /** What a head says of its body's length; 0 where it says nothing. */
    static int length(String head) {
        return head.toLowerCase(Locale.ROOT)
                .lines()
                .filter(line -> line.startsWith("content-length:"))
                .map(line -> Integer.parseInt(line.substring(15).strip()))
                .findFirst()
                .orElse(0);
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
