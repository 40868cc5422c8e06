package org.nemorelay.http.internal;

import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.eclipse.jetty.client.AbstractHttpClientTransport;
import org.eclipse.jetty.client.MultiplexConnectionPool;
import org.eclipse.jetty.client.transport.HttpClientTransportOverHTTP;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;
import org.eclipse.jetty.io.ArrayByteBufferPool;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.thread.Invocable;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;
import org.eclipse.jetty.util.thread.Scheduler;
import org.nemorelay.http.Destination;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.FailureAnswer;
import org.nemorelay.http.Forwarder;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.http.Origin;
import org.nemorelay.http.WireProtocol;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;

/** {@link HttpEngine} on Jetty. The sizes are those that the measurements found best (stack, last part). */
@Component(service = HttpEngine.class)
public final class JettyHttpEngine implements HttpEngine, Forwarder {
    private static final int MAX_THREADS = 12;
    private static final int MIN_THREADS = 4;
    private static final int WINDOW = 8 * 1024 * 1024;
    private static final int STREAM_WINDOW = 256 * 1024;
    private static final int H2_CONNECTIONS = 64;
    private static final int H2_STREAMS = 1024;

    private final QueuedThreadPool threads = new QueuedThreadPool(MAX_THREADS, MIN_THREADS);
    private final Scheduler scheduler = new ScheduledExecutorScheduler("http-timer", true);
    private final ByteBufferPool buffers = new ArrayByteBufferPool(0, 4096, 65536);
    private final UpstreamClient http1;
    private final UpstreamClient h2c;
    /** Started by the first request that needs it. */
    private final Https https = new Https();

    private final Set<JettyListener> listeners = ConcurrentHashMap.newKeySet();

    @Activate
    public JettyHttpEngine() {
        threads.setName("http");
        threads.setDaemon(true);
        http1 = http1(false);
        HTTP2Client http2 = new HTTP2Client(connector(false));
        http2.setInitialSessionRecvWindow(WINDOW);
        http2.setInitialStreamRecvWindow(STREAM_WINDOW);
        HttpClientTransportOverHTTP2 overHttp2 = new HttpClientTransportOverHTTP2(http2);
        overHttp2.setConnectionPoolFactory(
                destination -> new MultiplexConnectionPool(destination, H2_CONNECTIONS, H2_STREAMS));
        h2c = client(overHttp2, H2_CONNECTIONS);
        try {
            threads.start();
            scheduler.start();
            http1.start();
            h2c.start();
        } catch (Exception e) {
            close();
            throw new IllegalStateException("the HTTP engine does not start", e);
        }
    }

    private UpstreamClient http1(boolean secure) {
        HttpClientTransportOverHTTP transport = new HttpClientTransportOverHTTP(connector(secure));
        transport.setInitializeConnections(false);
        return client(transport, UpstreamClient.NO_CAP);
    }

    private UpstreamConnector connector(boolean secure) {
        UpstreamConnector connector = new UpstreamConnector(secure);
        connector.setSelectors(1);
        connector.setExecutor(threads);
        connector.setScheduler(scheduler);
        connector.setByteBufferPool(buffers);
        connector.setTCPNoDelay(true);
        connector.setConnectBlocking(false);
        connector.setConnectTimeout(UpstreamClient.CONNECT_TIMEOUT);
        connector.setIdleTimeout(UpstreamClient.POOL_IDLE);
        return connector;
    }

    private UpstreamClient client(AbstractHttpClientTransport transport, int connections) {
        transport.setInvocationType(Invocable.InvocationType.NON_BLOCKING);
        return new UpstreamClient(transport, connections, threads, scheduler, buffers);
    }

    @Override
    public HttpListener listen(String host, int port, Function<Server, Handler> handlers) {
        JettyListener listener =
                new JettyListener(host, port, handlers, threads, scheduler, buffers, listeners::remove);
        listeners.add(listener);
        return listener;
    }

    @Override
    public Forwarder forwarder() {
        return this;
    }

    @Override
    public CompletableFuture<Integer> status(
            Origin origin, WireProtocol protocol, String target, HttpField header, long timeoutMs) {
        boolean http1 = protocol == WireProtocol.HTTP_1_1;
        CompletableFuture<Integer> status = new CompletableFuture<>();
        (http1 ? this.http1 : h2c)
                .newRequest(origin.uri())
                .path(target)
                .version(http1 ? HttpVersion.HTTP_1_1 : HttpVersion.HTTP_2)
                .headers(headers -> headers.put(header))
                .timeout(timeoutMs, TimeUnit.MILLISECONDS)
                .send(result -> {
                    if (result.isFailed()) {
                        status.completeExceptionally(result.getFailure());
                    } else {
                        status.complete(result.getResponse().getStatus());
                    }
                });
        return status;
    }

    @Override
    public Scheduler scheduler() {
        return scheduler;
    }

    @Override
    public void forward(
            Request request,
            Response response,
            Callback callback,
            Destination destination,
            ExchangeListener listener,
            FailureAnswer failures) {
        ProxyExchange exchange =
                new ProxyExchange(request, response, callback, destination, listener, failures, scheduler, buffers);
        if (destination.origin().secure()) {
            https.start(exchange);
        } else {
            exchange.start(destination.protocol() == WireProtocol.H2C ? h2c : http1);
        }
    }

    @Override
    @Deactivate
    public void close() {
        listeners.forEach(HttpListener::close);
        stop(http1);
        stop(h2c);
        https.stop();
        stop(scheduler);
        stop(threads);
    }

    private static void stop(LifeCycle part) {
        try {
            part.stop();
        } catch (Exception e) {
            // Nothing can be done about a part that does not stop; the process is ending.
        }
    }

    /** The client for TLS, HTTP/1.1 within. */
    private final class Https {
        private volatile Optional<UpstreamClient> client = Optional.empty();

        void start(ProxyExchange exchange) {
            Optional<UpstreamClient> ready = client;
            if (ready.isPresent()) {
                exchange.start(ready.get());
            } else {
                threads.execute(() -> exchange.start(first()));
            }
        }

        private synchronized UpstreamClient first() {
            if (client.isEmpty()) {
                UpstreamClient made = http1(true);
                try {
                    made.start();
                } catch (Exception e) {
                    throw new IllegalStateException("the HTTPS client does not start", e);
                }
                client = Optional.of(made);
            }
            return client.get();
        }

        synchronized void stop() {
            client.ifPresent(JettyHttpEngine::stop);
        }
    }
}
