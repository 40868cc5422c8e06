package org.nemorelay.http.internal;

import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SelectorManager;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** Makes {@link UpstreamEndPoint}s. */
final class UpstreamConnector extends ClientConnector {
    private final boolean secure;

    /** @param secure whether it connects with TLS; reading the trust store takes long at a process's start */
    UpstreamConnector(boolean secure) {
        this.secure = secure;
    }

    @Override
    protected SslContextFactory.Client newSslContextFactory() {
        return secure ? super.newSslContextFactory() : new NoTls();
    }

    @Override
    protected SelectorManager newSelectorManager() {
        return new ClientSelectorManager(getExecutor(), getScheduler(), getSelectors()) {
            @Override
            protected EndPoint newEndPoint(SelectableChannel channel, ManagedSelector selector, SelectionKey key) {
                return new UpstreamEndPoint((SocketChannel) channel, selector, key, getScheduler());
            }
        };
    }

    /** Jetty wants one in every connector, and starts it. */
    private static final class NoTls extends SslContextFactory.Client {
        @Override
        protected void doStart() {
            // Nothing to read: no connection of this connector is secure.
        }
    }
}
