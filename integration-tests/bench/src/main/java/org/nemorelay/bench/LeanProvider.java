package org.nemorelay.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/**
 * A provider that costs as little as possible: one thread, fixed answers, nothing kept. The path decides which. Slow
 * streams get an event a second each, all at the same moment.
 */
final class LeanProvider implements AutoCloseable {
    static final int EVENTS = 128;
    static final int BIG = 1 << 20;
    static final int SLOW_EVENTS = 15;

    private static final long SLOW_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long TICK_MS = 100;

    private static final byte[] STREAMED = "/v1/chat".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] COUNTED = "/v1/messages/count".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] SLOW = "/v1/responses".getBytes(StandardCharsets.US_ASCII);
    private static final int METHOD = "POST ".length();

    private static final ByteBuffer SMALL = sized(200);
    private static final ByteBuffer LARGE = sized(BIG);
    private static final ByteBuffer STREAM_HEAD =
            bytes("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
    private static final ByteBuffer EVENT =
            bytes("7e\r\nevent: content_block_delta\ndata: {\"delta\":\"" + "x".repeat(79) + "\"}\n\n\r\n");
    private static final ByteBuffer STREAM_END = bytes("0\r\n\r\n");

    private final ServerSocketChannel server;
    private final Selector selector;
    private final ByteBuffer buffer = ByteBuffer.allocateDirect(64 * 1024);
    private long slowAt = System.nanoTime();

    LeanProvider() {
        try {
            selector = Selector.open();
            server = ServerSocketChannel.open();
            server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 1024);
            server.configureBlocking(false);
            server.register(selector, SelectionKey.OP_ACCEPT);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofPlatform().daemon().name("provider").start(this::serve);
    }

    int port() {
        return server.socket().getLocalPort();
    }

    String origin() {
        return "http://127.0.0.1:" + port();
    }

    @Override
    public void close() throws IOException {
        server.close();
        selector.close();
    }

    private void serve() {
        try {
            while (selector.isOpen()) {
                selector.select(TICK_MS);
                if (System.nanoTime() - slowAt > SLOW_NANOS) {
                    slowAt = System.nanoTime();
                    slow();
                }
                for (SelectionKey key : selector.selectedKeys()) {
                    if (key.isAcceptable()) {
                        accept();
                    } else {
                        serve(key, (Connection) key.attachment());
                    }
                }
                selector.selectedKeys().clear();
            }
        } catch (IOException | java.nio.channels.ClosedSelectorException e) {
            return;
        }
    }

    private void slow() {
        for (SelectionKey key : selector.keys()) {
            if (key.attachment() instanceof Connection connection && connection.slowEvents > 0) {
                connection.slowEvent();
                serve(key, connection);
            }
        }
    }

    private void accept() throws IOException {
        SocketChannel channel = server.accept();
        channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
        channel.configureBlocking(false);
        channel.register(selector, SelectionKey.OP_READ, new Connection());
    }

    private void serve(SelectionKey key, Connection connection) {
        SocketChannel channel = (SocketChannel) key.channel();
        try {
            if (connection.answering()) {
                connection.write(channel);
            } else {
                buffer.clear();
                if (channel.read(buffer) < 0) {
                    key.cancel();
                    channel.close();
                    return;
                }
                if (connection.wire.read(buffer.flip())) {
                    connection.answer();
                    connection.write(channel);
                }
            }
            int interest = connection.answering() ? SelectionKey.OP_WRITE : SelectionKey.OP_READ;
            if (key.interestOps() != interest) {
                key.interestOps(interest);
            }
        } catch (IOException gone) {
            connection.slowEvents = 0;
            key.cancel();
        }
    }

    /** A connection and what it still has to say. */
    private static final class Connection {
        final Wire wire = new Wire();
        private ByteBuffer now = ByteBuffer.allocate(0);
        private int events;
        private int slowEvents;

        boolean answering() {
            return now.hasRemaining();
        }

        void answer() {
            if (wire.startHas(METHOD, STREAMED)) {
                now = STREAM_HEAD.duplicate();
                events = EVENTS + 1;
            } else if (wire.startHas(METHOD, COUNTED)) {
                now = LARGE.duplicate();
            } else if (wire.startHas(METHOD, SLOW)) {
                now = STREAM_HEAD.duplicate();
                slowEvents = SLOW_EVENTS;
            } else {
                now = SMALL.duplicate();
            }
        }

        void slowEvent() {
            now = --slowEvents > 0 ? EVENT.duplicate() : STREAM_END.duplicate();
        }

        /** One write for each event, as a model says one token after the other. */
        void write(SocketChannel channel) throws IOException {
            while (now.hasRemaining()) {
                channel.write(now);
                if (now.hasRemaining()) {
                    return;
                }
                if (events > 0) {
                    now = --events > 0 ? EVENT.duplicate() : STREAM_END.duplicate();
                }
            }
        }
    }

    /** An answer of so many bytes, which whoever records it can read. */
    private static ByteBuffer sized(int length) {
        String begin = "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"";
        String end = "\"}],\"stop_reason\":\"end_turn\",\"usage\":{\"output_tokens\":2}}";
        String text = "x".repeat(length - begin.length() - end.length());
        return bytes("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: " + length + "\r\n\r\n"
                + begin + text + end);
    }

    private static ByteBuffer bytes(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
    }
}
