package org.nemorelay.http.internal;

import java.io.IOException;
import java.net.Socket;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** One selector that accepts too, over {@link WatchedEndPoint}s. */
final class RelayConnector extends ServerConnector {
    private static final int ACCEPT_QUEUE = 1024;
    /** Between requests; a request under way is never timed out. */
    private static final long KEEP_ALIVE_MS = 300_000;

    RelayConnector(Server server, ConnectionFactory... protocols) {
        // The server's own executor, scheduler and buffers, which a connector then does not stop.
        super(server, null, null, null, 0, 1, protocols);
        setAcceptQueueSize(ACCEPT_QUEUE);
        setAcceptedTcpNoDelay(true);
        setIdleTimeout(KEEP_ALIVE_MS);
    }

    @Override
    protected void configure(Socket socket) {
        super.configure(socket);
        try {
            KeepAlive.start(socket.getChannel());
        } catch (IOException e) {
            // A connection that is closed already; reading tells.
        }
    }

    @Override
    protected SocketChannelEndPoint newEndPoint(SocketChannel channel, ManagedSelector selector, SelectionKey key) {
        WatchedEndPoint endPoint = new WatchedEndPoint(channel, selector, key, getScheduler(), getExecutor());
        endPoint.setIdleTimeout(getIdleTimeout());
        return endPoint;
    }
}
