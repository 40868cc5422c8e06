package org.nemorelay.http.internal;

import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectableChannel;
import java.nio.channels.SelectionKey;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.concurrent.Executor;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SelectorManager;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.Invocable;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.util.thread.TryExecutor;
import org.nemorelay.protocol.TimeScale;

/**
 * One selector that accepts too, over {@link WatchedEndPoint}s, and that serves {@link UpstreamConnector}s as well: a
 * request's two connections then share one thread, and nothing of an exchange waits for a second one to wake.
 */
final class RelayConnector extends ServerConnector {
    private static final int ACCEPT_QUEUE = 1024;
    /** Between requests; a request under way is never timed out. */
    private static final long KEEP_ALIVE_MS = 300_000;

    private final DescriptorReserve reserve;

    RelayConnector(Server server, TimeScale scale, Refusals refusals, ConnectionFactory... protocols) {
        // The server's own executor, scheduler and buffers, which a connector then does not stop.
        super(server, new SameThread(server), null, null, 0, 1, protocols);
        setAcceptedTcpNoDelay(true);
        setIdleTimeout(scale.ms(KEEP_ALIVE_MS));
        reserve = new DescriptorReserve(refusals::noDescriptorLeft);
    }

    /** As Jetty does, but 0.0.0.0 stands for IPv4 alone: Java takes it for every address of IPv6 as well. */
    @Override
    protected ServerSocketChannel openAcceptChannel() throws IOException {
        InetSocketAddress address = new InetSocketAddress(getHost(), getPort());
        ServerSocketChannel server = address.getAddress() instanceof Inet4Address
                ? ServerSocketChannel.open(StandardProtocolFamily.INET)
                : ServerSocketChannel.open();
        try {
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            return server.bind(address, ACCEPT_QUEUE);
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
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

    @Override
    protected SelectorManager newSelectorManager(Executor executor, Scheduler scheduler, int selectors) {
        return new Loop(executor, scheduler, selectors);
    }

    /** Upstream's channels are known by what they are registered with. */
    private final class Loop extends ServerConnectorManager {
        Loop(Executor executor, Scheduler scheduler, int selectors) {
            super(executor, scheduler, selectors);
            setConnectTimeout(UpstreamClient.CONNECT_TIMEOUT.toMillis());
        }

        @Override
        protected SelectableChannel doAccept(SelectableChannel server) throws IOException {
            synchronized (reserve) {
                return reserve.next(((ServerSocketChannel) server)::accept);
            }
        }

        @Override
        protected void doStop() throws Exception {
            synchronized (reserve) {
                reserve.close();
            }
            super.doStop();
        }

        @Override
        protected SocketChannelEndPoint newEndPoint(
                SelectableChannel channel, ManagedSelector selector, SelectionKey key) throws IOException {
            Optional<UpstreamConnector.Selectors> upstream = UpstreamConnector.Selectors.of(key.attachment());
            return upstream.isPresent()
                    ? upstream.get().newEndPoint(channel, selector, key)
                    : super.newEndPoint(channel, selector, key);
        }

        @Override
        public Connection newConnection(SelectableChannel channel, EndPoint endPoint, Object attachment)
                throws IOException {
            Optional<UpstreamConnector.Selectors> upstream = UpstreamConnector.Selectors.of(attachment);
            return upstream.isPresent()
                    ? upstream.get().newConnection(channel, endPoint, attachment)
                    : super.newConnection(channel, endPoint, attachment);
        }

        @Override
        public void connectionOpened(Connection connection, Object attachment) {
            UpstreamConnector.Selectors.of(attachment)
                    .ifPresentOrElse(
                            upstream -> upstream.connectionOpened(connection, attachment),
                            () -> super.connectionOpened(connection, attachment));
        }

        @Override
        protected void connectionFailed(SelectableChannel channel, Throwable failure, Object attachment) {
            UpstreamConnector.Selectors.of(attachment)
                    .ifPresentOrElse(
                            upstream -> upstream.connectionFailed(channel, failure, attachment),
                            () -> super.connectionFailed(channel, failure, attachment));
        }

        @Override
        protected void endPointOpened(EndPoint endPoint) {
            if (!(endPoint instanceof UpstreamEndPoint)) {
                super.endPointOpened(endPoint);
            }
        }

        @Override
        protected void endPointClosed(EndPoint endPoint) {
            if (!(endPoint instanceof UpstreamEndPoint)) {
                super.endPointClosed(endPoint);
            }
        }
    }

    /**
     * Runs a connection that goes on after a response at once where nothing in the handlers blocks: Jetty would wake
     * another thread for every request. Within such a run the next one is dispatched, so pipelined requests do not pile up
     * on the stack.
     */
    private static final class SameThread implements TryExecutor {
        private final Server server;
        private final Executor threads;
        private final TryExecutor ready;
        private final ThreadLocal<Boolean> running = new ThreadLocal<>();

        SameThread(Server server) {
            this.server = server;
            this.threads = server.getThreadPool();
            this.ready = TryExecutor.asTryExecutor(threads);
        }

        @Override
        public void execute(Runnable task) {
            if (task instanceof Connection
                    && running.get() == null
                    && server.getInvocationType() == Invocable.InvocationType.NON_BLOCKING) {
                running.set(true);
                try {
                    task.run();
                } finally {
                    running.remove();
                }
            } else {
                threads.execute(task);
            }
        }

        @Override
        public boolean tryExecute(Runnable task) {
            return ready.tryExecute(task);
        }
    }
}
