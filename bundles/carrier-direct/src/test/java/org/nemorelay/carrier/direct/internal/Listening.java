package org.nemorelay.carrier.direct.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.ByteChannel;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.nemorelay.seams.Registration;

/** Takes connections at a port, each on a thread of its own. */
final class Listening implements Registration {
    private final ServerSocketChannel server;
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();

    Listening(int port, Consumer<ByteChannel> connection) {
        try {
            server = ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Thread.ofVirtual().start(() -> {
            while (server.isOpen()) {
                try {
                    SocketChannel channel = server.accept();
                    open.add(channel);
                    Thread.ofVirtual().start(() -> {
                        try (channel) {
                            connection.accept(channel);
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    });
                } catch (IOException e) {
                    return;
                }
            }
        });
    }

    static int freePort() {
        try (ServerSocket socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    int port() {
        return server.socket().getLocalPort();
    }

    int connections() {
        return open.size();
    }

    @Override
    public void close() {
        try {
            server.close();
            for (SocketChannel channel : open) {
                channel.close();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
