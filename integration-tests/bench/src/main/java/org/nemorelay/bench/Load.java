package org.nemorelay.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * Closed-loop clients: each sends its next request when the answer to the last one has ended. One thread serves them all:
 * on a machine of two cores what the load costs is taken from what is measured.
 */
final class Load {
    private static final byte[] OK = " 200".getBytes(StandardCharsets.US_ASCII);
    private static final int VERSION = "HTTP/1.1".length();
    private static final Duration PATIENCE = Duration.ofSeconds(30);

    private final InetSocketAddress server;
    private final ByteBuffer request;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(256 * 1024);

    /** @param header a whole line with its end, or empty */
    Load(int port, String path, String header) {
        server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        String body =
                "{\"model\":\"mock-model\",\"max_tokens\":16,\"messages\":[{\"role\":\"user\",\"content\":\"say hi\"}]}";
        byte[] bytes = ("POST " + path
                        + " HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\nx-api-key: k\r\n" + header
                        + "content-length: " + body.length() + "\r\n\r\n" + body)
                .getBytes(StandardCharsets.US_ASCII);
        request = ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }

    /** Microseconds of each of {@code requests} on one connection, in order. */
    double[] latencies(int requests) {
        double[] micros = new double[requests];
        try (Connection connection = new Connection()) {
            for (int i = 0; i < requests; i++) {
                long start = System.nanoTime();
                connection.send();
                while (!connection.read()) {
                    // Blocks until there is more.
                }
                micros[i] = (System.nanoTime() - start) / 1e3;
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return micros;
    }

    /** The first request of so many new connections, whose answers the selector tells of. */
    private void send(Selector selector, int connections) throws IOException {
        for (int i = 0; i < connections; i++) {
            Connection connection = new Connection();
            connection.channel.configureBlocking(false);
            connection.channel.register(selector, SelectionKey.OP_READ, connection);
            connection.send();
        }
    }

    /** Exchanges that ended within the time, over so many connections at once. */
    long exchanges(int connections, double seconds) {
        long done = 0;
        long end = System.nanoTime() + (long) (seconds * 1e9);
        try (Selector selector = Selector.open()) {
            send(selector, connections);
            while (System.nanoTime() < end) {
                if (selector.select(PATIENCE.toMillis()) == 0) {
                    throw new IOException("no answer within " + PATIENCE);
                }
                for (SelectionKey key : selector.selectedKeys()) {
                    Connection connection = (Connection) key.attachment();
                    if (connection.read()) {
                        done++;
                        connection.send();
                    }
                }
                selector.selectedKeys().clear();
            }
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return done;
    }

    /**
     * What became of streams that were all open at once.
     *
     * @param served those that came to their end
     * @param longestSilenceMs the longest that one of them was without a byte
     */
    record Streams(int served, long longestSilenceMs) {}

    /**
     * Opens so many streams and reads each to its end; what fails is not served.
     *
     * @param open runs once, when they have been open for so many seconds
     */
    Streams streams(int connections, double seconds, Runnable open) {
        int served = 0;
        long silence = 0;
        boolean told = false;
        long begin = System.nanoTime();
        try (Selector selector = Selector.open()) {
            send(selector, connections);
            long heard = System.nanoTime();
            while (!selector.keys().isEmpty() && System.nanoTime() - heard < PATIENCE.toNanos()) {
                selector.select(100);
                long now = System.nanoTime();
                for (SelectionKey key : selector.selectedKeys()) {
                    Connection connection = (Connection) key.attachment();
                    heard = now;
                    silence = Math.max(silence, now - connection.heard);
                    connection.heard = now;
                    try {
                        if (connection.read()) {
                            served++;
                            key.channel().close();
                        }
                    } catch (IOException failed) {
                        key.channel().close();
                    }
                }
                selector.selectedKeys().clear();
                if (!told && now - begin > seconds * 1e9) {
                    told = true;
                    open.run();
                }
            }
            for (SelectionKey key : selector.keys()) {
                key.channel().close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Streams(served, TimeUnit.NANOSECONDS.toMillis(silence));
    }

    private final class Connection implements AutoCloseable {
        private final SocketChannel channel;
        private final Wire wire = new Wire();
        private long heard = System.nanoTime();

        Connection() throws IOException {
            channel = SocketChannel.open(server);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        }

        /** A request is far smaller than a socket's buffer. */
        void send() throws IOException {
            if (channel.write(request.duplicate()) != request.limit()) {
                throw new IOException("the request does not fit into the socket's buffer");
            }
        }

        /** Reads once; true when the answer has ended. */
        boolean read() throws IOException {
            buffer.clear();
            if (channel.read(buffer) < 0) {
                throw new IOException("the connection was closed");
            }
            if (!wire.read(buffer.flip())) {
                return false;
            }
            if (!wire.startHas(VERSION, OK)) {
                throw new IOException("answered " + wire.startLine());
            }
            return true;
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }
}
