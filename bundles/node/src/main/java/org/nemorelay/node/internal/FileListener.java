package org.nemorelay.node.internal;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.nemorelay.files.FileServer;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** The node's file server on a port. */
final class FileListener implements AutoCloseable {
    private static final int MOST = 256;

    private final ServerSocketChannel server;
    private final Set<SocketChannel> open = ConcurrentHashMap.newKeySet();
    private final Thread acceptor;

    private FileListener(ServerSocketChannel server, FileServer files) {
        this.server = server;
        this.acceptor = Thread.ofPlatform().daemon().name("files").start(() -> accept(files));
    }

    /** @throws RelayException CONFIGURATION when the address cannot be bound */
    static FileListener open(String bind, int port, FileServer files) {
        try {
            InetSocketAddress address = new InetSocketAddress(bind, port);
            // Java takes 0.0.0.0 for every address of IPv6 as well.
            ServerSocketChannel server = address.getAddress() instanceof Inet4Address
                    ? ServerSocketChannel.open(StandardProtocolFamily.INET)
                    : ServerSocketChannel.open();
            try {
                return new FileListener(server.bind(address), files);
            } catch (IOException | RuntimeException e) {
                server.close();
                throw e;
            }
        } catch (IOException e) {
            throw new RelayException(
                    FailureKind.LAUNCH,
                    "cannot listen on " + bind + ":" + port + ": " + e.getMessage()
                            + "; stop what holds the port or choose another as [node] port");
        }
    }

    int port() {
        return server.socket().getLocalPort();
    }

    private void accept(FileServer files) {
        while (server.isOpen()) {
            try {
                SocketChannel channel = server.accept();
                if (open.size() >= MOST) {
                    channel.close();
                    continue;
                }
                open.add(channel);
                Thread.ofVirtual().name("file request").start(() -> {
                    files.serve(channel);
                    open.remove(channel);
                });
            } catch (IOException e) {
                // Closed, or a connection that ended before it began.
            }
        }
    }

    @Override
    public void close() {
        try {
            server.close();
            for (SocketChannel channel : open) {
                channel.close();
            }
            acceptor.join();
        } catch (IOException e) {
            // It is gone either way.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
