package org.nemorelay.http.internal;

import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
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
    /** So that one machine alone shuts nobody else out. */
    private static final int MAX_OF_ONE_ADDRESS = MAX_HANDSHAKES / 2;

    private static final long TELL_NANOS = 10_000_000_000L;
    private static final long HANDSHAKE_MS = 10_000;

    /** As ALPN spells it. */
    private static final String HTTP_1_1 = "http/1.1";

    private final Scheduler scheduler;
    private final Refusals refusals;

    // Guarded by `this`.
    private final Map<String, Integer> handshakes = new HashMap<>();
    private int underWay;
    private Optional<Long> lastTold = Optional.empty();

    private SecureConnections(SslContextFactory.Server context, Scheduler scheduler, Refusals refusals, String next) {
        super(context, next);
        // It would compare the Host header with the certificate: clients check certificates, and proxies set headers.
        setEnsureSecureRequestCustomizer(false);
        this.scheduler = scheduler;
        this.refusals = refusals;
    }

    /** TLS, the choice of a protocol, and the two protocols. */
    static ConnectionFactory[] factories(
            ServerTls identity,
            Scheduler scheduler,
            Refusals refusals,
            HttpConnectionFactory http1,
            AbstractHTTP2ServerConnectionFactory http2) {
        SslContextFactory.Server context = new SslContextFactory.Server();
        context.setKeyStore(identity.keyStore());
        context.setKeyStorePassword("");
        context.setCipherComparator(org.eclipse.jetty.http2.HTTP2Cipher.COMPARATOR);
        ALPNServerConnectionFactory choice = new ALPNServerConnectionFactory("h2", HTTP_1_1);
        choice.setDefaultProtocol(HTTP_1_1);
        return new ConnectionFactory[] {
            new SecureConnections(context, scheduler, refusals, choice.getProtocol()), choice, http2, http1
        };
    }

    @Override
    public Connection newConnection(Connector connector, EndPoint endPoint) {
        String address = endPoint.getRemoteSocketAddress() instanceof InetSocketAddress peer
                ? peer.getAddress().getHostAddress()
                : "";
        if (!begin(address)) {
            endPoint.close();
            throw new IllegalStateException("too many TLS handshakes at once");
        }
        SslConnection connection = (SslConnection) super.newConnection(connector, endPoint);
        Handshake handshake = new Handshake(endPoint, address);
        connection.addHandshakeListener(handshake);
        connection.addEventListener(handshake);
        return connection;
    }

    private synchronized boolean begin(String address) {
        int ofThisAddress = handshakes.getOrDefault(address, 0);
        if (underWay == MAX_HANDSHAKES || ofThisAddress == MAX_OF_ONE_ADDRESS) {
            long now = System.nanoTime();
            if (lastTold.isEmpty() || now - lastTold.get() >= TELL_NANOS) {
                lastTold = Optional.of(now);
                refusals.tooManyHandshakes(address);
            }
            return false;
        }
        underWay++;
        handshakes.put(address, ofThisAddress + 1);
        return true;
    }

    private synchronized void end(String address) {
        underWay--;
        handshakes.computeIfPresent(address, (_, count) -> count == 1 ? null : count - 1);
    }

    /** One handshake: over when it succeeds, fails, or its connection closes. */
    private final class Handshake implements SslHandshakeListener, Connection.Listener {
        private final String address;
        private final Scheduler.Task deadline;
        private boolean over;

        Handshake(EndPoint endPoint, String address) {
            this.address = address;
            deadline = scheduler.schedule(endPoint::close, HANDSHAKE_MS, TimeUnit.MILLISECONDS);
        }

        private synchronized void end() {
            if (!over) {
                over = true;
                deadline.cancel();
                SecureConnections.this.end(address);
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
