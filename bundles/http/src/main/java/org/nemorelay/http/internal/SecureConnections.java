package org.nemorelay.http.internal;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.alpn.server.ALPNServerConnectionFactory;
import org.eclipse.jetty.http2.server.AbstractHTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.io.ssl.SslHandshakeListener;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Connector;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.Scheduler;
import org.nemorelay.identity.ServerTls;

/** The TLS layer of a listener: strangers can neither hold many handshakes open nor one for long (relay-daemon 2). */
final class SecureConnections extends SslConnectionFactory {
    private static final int MAX_HANDSHAKES = 256;
    private static final long HANDSHAKE_MS = 10_000;

    /** As ALPN spells it. */
    private static final String HTTP_1_1 = "http/1.1";

    private final Scheduler scheduler;
    private final AtomicInteger handshakes = new AtomicInteger();

    private SecureConnections(SslContextFactory.Server context, Scheduler scheduler, String next) {
        super(context, next);
        // It would compare the Host header with the certificate: clients check certificates, and proxies set headers.
        setEnsureSecureRequestCustomizer(false);
        this.scheduler = scheduler;
    }

    /** TLS, the choice of a protocol, and the two protocols. */
    static ConnectionFactory[] factories(
            ServerTls identity,
            Scheduler scheduler,
            HttpConnectionFactory http1,
            AbstractHTTP2ServerConnectionFactory http2) {
        SslContextFactory.Server context = new SslContextFactory.Server();
        context.setKeyStore(identity.keyStore());
        context.setKeyStorePassword("");
        context.setCipherComparator(org.eclipse.jetty.http2.HTTP2Cipher.COMPARATOR);
        ALPNServerConnectionFactory choice = new ALPNServerConnectionFactory("h2", HTTP_1_1);
        choice.setDefaultProtocol(HTTP_1_1);
        return new ConnectionFactory[] {
            new SecureConnections(context, scheduler, choice.getProtocol()), choice, http2, http1
        };
    }

    @Override
    public Connection newConnection(Connector connector, EndPoint endPoint) {
        if (handshakes.incrementAndGet() > MAX_HANDSHAKES) {
            handshakes.decrementAndGet();
            endPoint.close();
            throw new IllegalStateException("too many TLS handshakes at once");
        }
        SslConnection connection = (SslConnection) super.newConnection(connector, endPoint);
        Handshake handshake = new Handshake(endPoint);
        connection.addHandshakeListener(handshake);
        connection.addEventListener(handshake);
        return connection;
    }

    /** One handshake: over when it succeeds, fails, or its connection closes. */
    private final class Handshake implements SslHandshakeListener, Connection.Listener {
        private final Scheduler.Task deadline;
        private boolean over;

        Handshake(EndPoint endPoint) {
            deadline = scheduler.schedule(endPoint::close, HANDSHAKE_MS, TimeUnit.MILLISECONDS);
        }

        private synchronized void end() {
            if (!over) {
                over = true;
                deadline.cancel();
                handshakes.decrementAndGet();
            }
        }

        @Override
        public void handshakeSucceeded(Event event) {
            end();
        }

        @Override
        public void handshakeFailed(Event event, Throwable failure) {
            end();
        }

        @Override
        public void onOpened(Connection connection) {
            // The handshake begins with what the client sends.
        }

        @Override
        public void onClosed(Connection connection) {
            end();
        }
    }
}
