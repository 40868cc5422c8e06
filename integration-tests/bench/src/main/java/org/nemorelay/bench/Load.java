package org.nemorelay.bench;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

/** Closed-loop clients: each sends its next request when the answer to the last one has ended. */
final class Load {
    private final int port;
    private final byte[] request;

    /** @param header a whole line with its end, or empty */
    Load(int port, String path, String header) {
        this.port = port;
        String body =
                "{\"model\":\"mock-model\",\"max_tokens\":16,\"messages\":[{\"role\":\"user\",\"content\":\"say hi\"}]}";
        this.request = ("POST " + path
                        + " HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nx-api-key: k\r\n" + header
                        + "content-length: " + body.length() + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.US_ASCII);
    }

    /** Microseconds of each of {@code requests} on one connection, in order. */
    double[] latencies(int requests) {
        double[] micros = new double[requests];
        try (Connection connection = new Connection()) {
            for (int i = 0; i < requests; i++) {
                long start = System.nanoTime();
                connection.exchange();
                micros[i] = (System.nanoTime() - start) / 1e3;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return micros;
    }

    /** Exchanges that ended within the time, over so many connections at once. */
    long exchanges(int connections, double seconds) {
        AtomicLong done = new AtomicLong();
        long end = System.nanoTime() + (long) (seconds * 1e9);
        List<Thread> threads = new ArrayList<>();
        List<Throwable> failures = java.util.Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < connections; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                try (Connection connection = new Connection()) {
                    while (System.nanoTime() < end) {
                        connection.exchange();
                        done.incrementAndGet();
                    }
                } catch (IOException | RuntimeException e) {
                    failures.add(e);
                }
            }));
        }
        try {
            for (Thread thread : threads) {
                thread.join();
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (!failures.isEmpty()) {
            throw new IllegalStateException(failures.size() + " connections failed", failures.getFirst());
        }
        return done.get();
    }

    private final class Connection implements AutoCloseable {
        private final Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        private final InputStream in = new BufferedInputStream(socket.getInputStream(), 64 * 1024);

        Connection() throws IOException {
            socket.setTcpNoDelay(true);
            socket.setSoTimeout(30_000);
        }

        void exchange() throws IOException {
            socket.getOutputStream().write(request);
            Wire.Head head = Wire.head(in);
            if (head == null || !head.start().startsWith("HTTP/1.1 200")) {
                throw new IOException("answered " + (head == null ? "nothing" : head.start()));
            }
            Wire.skipBody(in, head);
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
