package org.nemorelay.http.internal;

import java.net.URI;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.HttpClientTransport;
import org.eclipse.jetty.client.transport.HttpConversation;
import org.eclipse.jetty.client.transport.HttpRequest;
import org.eclipse.jetty.http.HttpCookieStore;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.util.thread.Scheduler;

/** A client that changes nothing: no cookies, redirects, decoders, authentication or headers of its own (stack, 2). */
@SuppressWarnings("try") // HttpClient.close() is declared so.
final class UpstreamClient extends HttpClient {
    static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);
    /** How long an unused connection is kept. */
    static final long POOL_IDLE_MS = 120_000;
    /**
     * How many times as long, ten minutes, what is known of an unused address is kept: workers of other machines come and go,
     * each with an address of its own.
     */
    private static final int DESTINATION_IDLES = 5;

    /** Of what is passed on of a head, as HTTP/1.1 writes it. */
    static final int HEAD_LIMIT = 256 * 1024;
    /** Some pieces of code take time by the square of it. */
    static final int MAX_FIELDS = 1_000;
    /** Of a head as it comes: with what is not passed on and, in HTTP/2, with 32 bytes more for each field. */
    static final int RAW_HEAD_LIMIT = 2 * 1024 * 1024;

    /** More than the ports that one machine can use towards one server. */
    static final int NO_CAP = 65_536;

    private static final int REQUEST_BUFFER = 16 * 1024;
    /** Large answers cost a third less than with half of it; a client that does not read holds one. */
    private static final int RESPONSE_BUFFER = 32 * 1024;

    /** @param idle how long a new connection may be silent, its handshake included */
    UpstreamClient(
            HttpClientTransport transport,
            int connections,
            Duration idle,
            Executor executor,
            Scheduler scheduler,
            ByteBufferPool buffers) {
        super(transport);
        setExecutor(executor);
        setScheduler(scheduler);
        setByteBufferPool(buffers);
        setConnectTimeout(CONNECT_TIMEOUT.toMillis());
        setIdleTimeout(idle.toMillis());
        setMaxConnectionsPerDestination(connections);
        setMaxRequestsQueuedPerDestination(NO_CAP);
        setDestinationIdleTimeout(idle.multipliedBy(DESTINATION_IDLES).toMillis());
        setFollowRedirects(false);
        setUserAgentField(null);
        setDefaultRequestContentType(null);
        setHttpCookieStore(new HttpCookieStore.Empty());
        setStrictEventOrdering(false);
        setRequestBufferSize(REQUEST_BUFFER);
        setResponseBufferSize(RESPONSE_BUFFER);
        setMaxRequestHeadersSize(RAW_HEAD_LIMIT);
        setMaxResponseHeadersSize(RAW_HEAD_LIMIT);
    }

    @Override
    protected void doStart() throws Exception {
        super.doStart();
        getContentDecoderFactories().clear();
        getProtocolHandlers().clear();
        getProtocolHandlers().put(new InterimResponses());
    }

    /** A request for {@code target} exactly as it stands: nothing is parsed, decoded or normalised. */
    UpstreamRequest newRequest(URI origin, String method, String target, HttpVersion version, ProxyExchange exchange) {
        return new UpstreamRequest(this, origin, method, target, version, exchange);
    }

    /** Jetty takes the request line's parts from a URI that it parses and decodes; here they are the text given. */
    static final class UpstreamRequest extends HttpRequest {
        private final String path;
        private final String query;
        private final ProxyExchange exchange;
        private volatile boolean sent;

        UpstreamRequest(
                HttpClient client,
                URI origin,
                String method,
                String target,
                HttpVersion version,
                ProxyExchange exchange) {
            super(client, new HttpConversation(), origin);
            int mark = target.indexOf('?');
            path = mark < 0 ? target : target.substring(0, mark);
            query = mark < 0 ? null : target.substring(mark + 1);
            this.exchange = exchange;
            method(method);
            useVersion(version);
        }

        ProxyExchange exchange() {
            return exchange;
        }

        /** Whether the connection has taken it to its end. */
        boolean sent() {
            return sent;
        }

        @Override
        public void notifySuccess() {
            sent = true;
            super.notifySuccess();
        }

        @Override
        public String getPath() {
            return path;
        }

        /** In HTTP/2 the port would stand in {@code :authority}, where the scheme's own is left out. */
        @Override
        public int getPort() {
            int port = super.getPort();
            return port == 443
                            && getVersion() == HttpVersion.HTTP_2
                            && getScheme().equals("https")
                    ? -1
                    : port;
        }

        @Override
        public String getQuery() {
            return query;
        }
    }
}
