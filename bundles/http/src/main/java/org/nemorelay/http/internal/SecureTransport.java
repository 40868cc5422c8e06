package org.nemorelay.http.internal;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import org.eclipse.jetty.client.Destination;
import org.eclipse.jetty.client.Origin;
import org.eclipse.jetty.client.transport.HttpClientConnectionFactory;
import org.eclipse.jetty.client.transport.HttpClientTransportDynamic;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.ClientConnectionFactoryOverHTTP2;
import org.eclipse.jetty.io.ClientConnector;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.util.ssl.SslContextFactory;

/**
 * TLS with HTTP/2 or HTTP/1.1 within, as the server chooses. HTTP/2 is offered first: many requests at once cost one
 * handshake instead of one each, and what it costs big bodies on a fast link is no matter on the way to a provider.
 */
final class SecureTransport extends HttpClientTransportDynamic {
    private final Duration poolIdle;
    private final SilenceWatch.Patience patience;

    /** @param poolIdle how long an unused connection is kept */
    SecureTransport(UpstreamConnector connector, HTTP2Client http2, Duration poolIdle, SilenceWatch.Patience patience) {
        super(connector, new ClientConnectionFactoryOverHTTP2.HTTP2(http2), HttpClientConnectionFactory.HTTP11);
        this.poolIdle = poolIdle;
        this.patience = patience;
    }

    /** One with a root of its own has that as its tag. */
    @Override
    public Destination newDestination(Origin origin) {
        if (!(getHttpClient().getSslContextFactory() instanceof PinnedRoots roots)) {
            return new UpstreamDestination(getHttpClient(), origin);
        }
        return new UpstreamDestination(getHttpClient(), origin) {
            @Override
            public SslContextFactory.Client resolveSslContextFactory() {
                return roots.of((String) getOrigin().getTag());
            }
        };
    }

    /** Called when the handshake is done. */
    @Override
    public Connection newConnection(EndPoint endPoint, Map<String, Object> context) throws IOException {
        // A server that negotiates nothing speaks HTTP/1.1; Jetty would take the protocol offered first.
        context.putIfAbsent(ClientConnector.APPLICATION_PROTOCOL_CONTEXT_KEY, "http/1.1");
        // Until here the time to connect was the limit.
        endPoint.setIdleTimeout(poolIdle.toMillis());
        Connection connection = super.newConnection(endPoint, context);
        if (connection instanceof HTTP2Connection http2) {
            SilenceWatch.start(http2, getHttpClient().getScheduler(), patience);
        }
        return connection;
    }
}
