package org.nemorelay.http.internal;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** Makes {@link UpstreamEndPoint}s. */
final class UpstreamConnector extends ClientConnector {
    @Override
    protected SslContextFactory.Client newSslContextFactory() {
        return new NoTls();
    }

    @Override
    protected void configure(SelectableChannel channel) throws IOException {
        super.configure(channel);
        KeepAlive.start((SocketChannel) channel);
    }

    @Override
    protected EndPoint newEndPoint(SelectableChannel channel, ManagedSelector selector, SelectionKey key) {
        return new UpstreamEndPoint((SocketChannel) channel, selector, key, getScheduler());
    }

    /** Jetty wants one in every connector, and starts it; reading trusted authorities takes long at a process's start. */
    private static final class NoTls extends SslContextFactory.Client {
        @Override
        protected void doStart() {
            // Nothing to read: no connection of this connector is secure.
        }
    }
}
