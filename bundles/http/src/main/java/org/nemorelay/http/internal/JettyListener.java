package org.nemorelay.http.internal;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.http.MetaData;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.http2.server.AbstractHTTP2ServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2CServerConnectionFactory;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.RateControl;
import org.eclipse.jetty.io.SelectorManager;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.IO;
import org.eclipse.jetty.util.thread.Scheduler;
import org.eclipse.jetty.util.thread.ThreadPool;
import org.nemorelay.http.HttpListener;
import org.nemorelay.identity.ServerTls;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.TimeScale;

/** One connector, cleartext or TLS, with its own Jetty server over the engine's threads. */
final class JettyListener implements HttpListener {
    private static final int BUFFER = 16 * 1024;
    private static final int STREAMS = 4096;
    private static final int WINDOW = 8 * 1024 * 1024;
    private static final int STREAM_WINDOW = 256 * 1024;

    private final Server server;
    private final RelayConnector connector;
    private final Consumer<JettyListener> closed;

    JettyListener(
            String host,
            int port,
            Optional<ServerTls> identity,
            Function<Server, Handler> handlers,
            ThreadPool threads,
            Scheduler scheduler,
            ByteBufferPool buffers,
            TimeScale scale,
            Refusals refusals,
            Consumer<JettyListener> closed) {
        this.closed = closed;
        server = new Server(threads, scheduler, buffers);
        server.unmanage(threads);
        server.unmanage(scheduler);
        HttpConfiguration configuration = new HttpConfiguration();
        configuration.setSendServerVersion(false);
        configuration.setSendDateHeader(true);
        configuration.setInputBufferSize(BUFFER);
        configuration.setOutputBufferSize(BUFFER);
        configuration.setRequestHeaderSize(UpstreamClient.HEAD_LIMIT);
        configuration.setResponseHeaderSize(BUFFER);
        configuration.setMaxResponseHeaderSize(UpstreamClient.RAW_HEAD_LIMIT);
        configuration.setNotifyRemoteAsyncErrors(true);
        // Paths are compared and forwarded as they stand, so that none means two things.
        configuration.setUriCompliance(UriCompliance.UNSAFE);
        HttpConnectionFactory http1 = new HttpConnectionFactory(configuration);
        HttpConfiguration configuration2 = new HttpConfiguration(configuration);
        // There a head over the limit ends the connection with all its streams; the forwarder refuses the one request.
        configuration2.setRequestHeaderSize(UpstreamClient.RAW_HEAD_LIMIT);
        AbstractHTTP2ServerConnectionFactory http2 = identity.isPresent()
                ? new HTTP2ServerConnectionFactory(configuration2)
                : new PriorKnowledge(configuration2);
        http2.setMaxConcurrentStreams(STREAMS);
        http2.setInitialSessionRecvWindow(WINDOW);
        http2.setInitialStreamRecvWindow(STREAM_WINDOW);
        // Never: 0 would stand for the time after which an unused connection ends.
        http2.setStreamIdleTimeout(-1);
        http2.setRateControlFactory(new RateControl.Factory() {});
        connector = new RelayConnector(
                server,
                scale,
                refusals,
                identity.map(tls -> SecureConnections.factories(tls, scheduler, refusals, http1, http2))
                        .orElseGet(() -> new ConnectionFactory[] {http1, http2}));
        connector.setHost(host);
        connector.setPort(port);
        // At a shutdown, for connections between two requests; one with a response under way is not idle.
        connector.setShutdownIdleTimeout(10);
        server.addConnector(connector);
        server.setHandler(handlers.apply(server));
        // A request that no handler saw, such as a malformed one, is answered by its status alone.
        server.setErrorHandler((request, response, callback) -> {
            response.write(true, BufferUtil.EMPTY_BUFFER, callback);
            return true;
        });
        try {
            server.start();
        } catch (Exception e) {
            close();
            Throwable cause = e instanceof IOException && e.getCause() != null ? e.getCause() : e;
            throw new RelayException(
                    FailureKind.LAUNCH,
                    "cannot listen on " + host + ":" + port + ": " + Reasons.of(cause) + remedy(cause, port),
                    e);
        }
    }

    /** What an administrator can do about it. */
    private static String remedy(Throwable cause, int port) {
        String message = String.valueOf(cause.getMessage());
        if (message.contains("in use")) {
            return "; stop what holds the port or choose another";
        }
        return message.contains("ermission") && port < 1_024
                ? "; ports below 1024 are root's, choose another"
                : "; choose another address or port";
    }

    @Override
    public int port() {
        return connector.getLocalPort();
    }

    /** Its selector; upstream connections may live there too, and end with it. */
    SelectorManager selectors() {
        return connector.getSelectorManager();
    }

    @Override
    public void close(Duration grace) {
        // A connector's shutdown closes the port of acceptor threads only; this one accepts by its selector, which lets
        // go
        // of a closed channel when it is woken.
        IO.close((Closeable) connector.getTransport());
        connector.setAccepting(false);
        try {
            connector.shutdown().get(grace.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            // What is still under way is broken off below.
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        close();
    }

    @Override
    public void close() {
        closed.accept(this);
        try {
            server.stop();
        } catch (Exception e) {
            // Nothing can be done about a server that does not stop; its connections are closed by then.
        }
    }

    /** HTTP/2 for clients that begin with it; an upgrade to it (RFC 9113 3.1 knows none) is a header like any other. */
    private static final class PriorKnowledge extends HTTP2CServerConnectionFactory {
        PriorKnowledge(HttpConfiguration configuration) {
            super(configuration);
        }

        @Override
        public Connection upgradeConnection(
                Connector to, EndPoint endPoint, MetaData.Request request, HttpFields.Mutable answer) {
            return HttpMethod.PRI.is(request.getMethod())
                    ? super.upgradeConnection(to, endPoint, request, answer)
                    : null;
        }
    }
}
