package org.nemorelay.http.internal;

import java.io.IOException;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SelectorManager;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/** Makes {@link UpstreamEndPoint}s, on the selector of a listener where it is given one. */
final class UpstreamConnector extends ClientConnector {
    private final Supplier<Optional<SelectorManager>> shared;

    /** @param shared whose selector serves the next connection; nothing for one of its own */
    UpstreamConnector(Supplier<Optional<SelectorManager>> shared) {
        this.shared = shared;
    }

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

    @Override
    protected SelectorManager newSelectorManager() {
        return new Selectors(this);
    }

    /** Its own selector, and the connector's part in what happens on a shared one. */
    static final class Selectors extends ClientSelectorManager {
        private final UpstreamConnector connector;

        private Selectors(UpstreamConnector connector) {
            connector.super(connector.getExecutor(), connector.getScheduler(), connector.getSelectors());
            this.connector = connector;
        }

        /** Those of the connector to which a channel belongs that is registered with this. */
        static Optional<Selectors> of(Object attachment) {
            return attachment instanceof Map<?, ?> context
                            && context.get(CONTEXT_KEY) instanceof UpstreamConnector connector
                            && connector.getSelectorManager() instanceof Selectors selectors
                    ? Optional.of(selectors)
                    : Optional.empty();
        }

        @Override
        public void connect(SelectableChannel channel, Object attachment) {
            connector
                    .shared
                    .get()
                    .ifPresentOrElse(
                            other -> other.connect(channel, attachment), () -> super.connect(channel, attachment));
        }

        @Override
        public void accept(SelectableChannel channel, Object attachment) {
            connector
                    .shared
                    .get()
                    .ifPresentOrElse(
                            other -> other.accept(channel, attachment), () -> super.accept(channel, attachment));
        }

        @Override
        protected SocketChannelEndPoint newEndPoint(
                SelectableChannel channel, ManagedSelector selector, SelectionKey key) {
            return (SocketChannelEndPoint) super.newEndPoint(channel, selector, key);
        }

        @Override
        protected void connectionFailed(SelectableChannel channel, Throwable failure, Object attachment) {
            super.connectionFailed(channel, failure, attachment);
        }
    }

    /** Jetty wants one in every connector, and starts it; reading trusted authorities takes long at a process's start. */
    private static final class NoTls extends SslContextFactory.Client {
        @Override
        protected void doStart() {
            // Nothing to read: no connection of this connector is secure.
        }
    }
}
