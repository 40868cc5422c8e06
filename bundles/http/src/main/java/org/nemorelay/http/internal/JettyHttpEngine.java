package org.nemorelay.http.internal;

import java.security.KeyStore;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.eclipse.jetty.client.AbstractHttpClientTransport;
import org.eclipse.jetty.client.MultiplexConnectionPool;
import org.eclipse.jetty.client.transport.HttpClientTransportOverHTTP;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http2.client.HTTP2Client;
import org.eclipse.jetty.http2.client.transport.HttpClientTransportOverHTTP2;
import org.eclipse.jetty.io.ArrayByteBufferPool;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.io.SelectorManager;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.Invocable;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;
import org.eclipse.jetty.util.thread.Scheduler;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.http.Destination;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.FailureAnswer;
import org.nemorelay.http.Forwarder;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.http.Origin;
import org.nemorelay.http.WireProtocol;
import org.nemorelay.identity.ServerTls;
import org.nemorelay.identity.TrustedAuthorities;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.TimeScale;
import org.nemorelay.telemetry.EventLog;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.Deactivate;
import org.osgi.service.component.annotations.Reference;

/** {@link HttpEngine} on Jetty. The sizes are those that the measurements found best (stack, last part). */
@Component(service = HttpEngine.class)
public final class JettyHttpEngine implements HttpEngine, Forwarder {
    private static final String TARGET = "nemo_relay.http";
    private static final int MAX_THREADS = 12;
    private static final int MIN_THREADS = 4;
    private static final int STREAM_WINDOW = 256 * 1024;
    /** No limit of its own: streams whose readers are slow must not hold up the others of their connection. */
    private static final int WINDOW = 1 << 30;

    private static final int H2_CONNECTIONS = 64;
    private static final int H2_STREAMS = 1024;

    private final QueuedThreadPool threads = new QueuedThreadPool(MAX_THREADS, MIN_THREADS);
    private final Scheduler scheduler = new ScheduledExecutorScheduler("http-timer", true);
    private final ByteBufferPool buffers = new ArrayByteBufferPool(0, 4096, 65536);
    private final TimeScale scale;
    private final Refusals refusals;
    private final SilenceWatch.Patience patience;
    private final Duration poolIdle;
    private final UpstreamClient http1;
    private final UpstreamClient h2c;
    private final Https https;
    private final Https pinned;
    private final Set<JettyListener> listeners = ConcurrentHashMap.newKeySet();

    @Activate
    public JettyHttpEngine(@Reference LaunchOptions options, @Reference EventLog log) {
        this(
                () -> TrustedAuthorities.read(options.environment()),
                TimeScale.of(options.environment()),
                telling(log),
                SilenceWatch.Patience.USUAL);
    }

    private static Refusals telling(EventLog log) {
        return new Refusals() {
            @Override
            public void noDescriptorLeft() {
                log.log(
                        EventLog.Level.ERROR,
                        TARGET,
                        "descriptor_limit_reached",
                        "This process has as many files and connections open as it may, and refuses new connections; raise its"
                                + " limit: LimitNOFILE of its systemd unit, or ulimit -n");
            }

            @Override
            public void tooManyHandshakes(String address) {
                log.log(
                        EventLog.Level.ERROR,
                        TARGET,
                        "tls_handshakes_refused",
                        "More TLS handshakes are under way at once than may be, and new connections are dropped; find out what"
                                + " opens connections here and says nothing on them",
                        "address",
                        address);
            }
        };
    }

    /**
     * Outside the framework. No constructor: one with as many arguments as that above is tried by the framework, which tells
     * an error of each that does not suit it.
     *
     * @param authorities whom to trust; Java's own where it is empty
     */
    public static JettyHttpEngine alone(Supplier<Optional<KeyStore>> authorities, TimeScale scale) {
        return new JettyHttpEngine(authorities, scale, Refusals.UNTOLD, SilenceWatch.Patience.USUAL);
    }

    JettyHttpEngine(
            Supplier<Optional<KeyStore>> authorities,
            TimeScale scale,
            Refusals refusals,
            SilenceWatch.Patience patience) {
        this.scale = scale;
        this.refusals = refusals;
        this.patience = patience;
        poolIdle = Duration.ofMillis(scale.ms(UpstreamClient.POOL_IDLE_MS));
        https = new Https(() -> {
            SslContextFactory.Client tls = new StrictTls();
            authorities.get().ifPresent(tls::setTrustStore);
            return tls;
        });
        pinned = new Https(PinnedRoots::new);
        threads.setName("http");
        threads.setDaemon(true);
        HttpClientTransportOverHTTP overHttp1 = new HttpClientTransportOverHTTP(connector(this::shared)) {
            @Override
            public org.eclipse.jetty.client.Destination newDestination(org.eclipse.jetty.client.Origin origin) {
                return new UpstreamDestination(getHttpClient(), origin);
            }
        };
        overHttp1.setInitializeConnections(false);
        http1 = client(overHttp1, UpstreamClient.NO_CAP, poolIdle);
        HttpClientTransportOverHTTP2 overHttp2 = new HttpClientTransportOverHTTP2(http2(connector(this::shared)));
        overHttp2.setConnectionPoolFactory(
                destination -> new MultiplexConnectionPool(destination, H2_CONNECTIONS, H2_STREAMS));
        h2c = client(overHttp2, H2_CONNECTIONS, poolIdle);
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

    private static HTTP2Client http2(UpstreamConnector connector) {
        HTTP2Client http2 = new HTTP2Client(connector);
        http2.setInitialSessionRecvWindow(WINDOW);
        http2.setInitialStreamRecvWindow(STREAM_WINDOW);
        return http2;
    }

    /** The selector of a listener, where there is one: see {@link RelayConnector}. */
    private Optional<SelectorManager> shared() {
        for (JettyListener listener : listeners) {
            return Optional.of(listener.selectors());
        }
        return Optional.empty();
    }

    private UpstreamConnector connector(Supplier<Optional<SelectorManager>> shared) {
        UpstreamConnector connector = new UpstreamConnector(shared);
        connector.setSelectors(1);
        connector.setExecutor(threads);
        connector.setScheduler(scheduler);
        connector.setByteBufferPool(buffers);
        connector.setTCPNoDelay(true);
        connector.setConnectBlocking(false);
        return connector;
    }

    private UpstreamClient client(AbstractHttpClientTransport transport, int connections, Duration idle) {
        transport.setInvocationType(Invocable.InvocationType.NON_BLOCKING);
        return new UpstreamClient(transport, connections, idle, threads, scheduler, buffers);
    }

    @Override
    public HttpListener listen(String host, int port, Function<Server, Handler> handlers) {
        return listen(host, port, Optional.empty(), handlers);
    }

    @Override
    public HttpListener listenSecurely(String host, int port, ServerTls identity, Function<Server, Handler> handlers) {
        return listen(host, port, Optional.of(identity), handlers);
    }

    private HttpListener listen(
            String host, int port, Optional<ServerTls> identity, Function<Server, Handler> handlers) {
        JettyListener listener = new JettyListener(
                host, port, identity, handlers, threads, scheduler, buffers, scale, refusals, listeners::remove);
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
        CompletableFuture<Integer> status = new CompletableFuture<>();
        if (origin.secure()) {
            https(origin).whenComplete((client, failure) -> {
                if (failure == null) {
                    // Without a version the server chooses.
                    status(client.newRequest(origin.uri()), origin, target, header, timeoutMs, status);
                } else {
                    fail(status, failure, timeoutMs);
                }
            });
        } else {
            boolean overHttp1 = protocol == WireProtocol.HTTP_1_1;
            org.eclipse.jetty.client.Request request = (overHttp1 ? http1 : h2c)
                    .newRequest(origin.uri())
                    .version(overHttp1 ? HttpVersion.HTTP_1_1 : HttpVersion.HTTP_2);
            status(request, origin, target, header, timeoutMs, status);
        }
        return status;
    }

    private static void status(
            org.eclipse.jetty.client.Request request,
            Origin origin,
            String target,
            HttpField header,
            long timeoutMs,
            CompletableFuture<Integer> status) {
        origin.onlyRoot().ifPresent(request::tag);
        request.path(target)
                .headers(headers -> headers.put(header))
                .timeout(timeoutMs, TimeUnit.MILLISECONDS)
                .send(result -> {
                    if (result.isFailed()) {
                        fail(status, result.getFailure(), timeoutMs);
                    } else {
                        status.complete(result.getResponse().getStatus());
                    }
                });
    }

    private static void fail(CompletableFuture<Integer> status, Throwable failure, long timeoutMs) {
        status.completeExceptionally(new RelayException(
                FailureKind.UPSTREAM, ConnectProblem.of(failure, TimeUnit.MILLISECONDS.toSeconds(timeoutMs)), failure));
    }

    /** The client for servers that the trusted authorities vouch for, or the one for servers with a root of their own. */
    private CompletableFuture<UpstreamClient> https(Origin origin) {
        return (origin.onlyRoot().isPresent() ? pinned : https).started();
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
            https(destination.origin()).whenComplete((client, failure) -> {
                if (failure == null) {
                    exchange.start(client);
                } else {
                    exchange.refuse(failure.getMessage());
                }
            });
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
        pinned.stop();
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

    /** A client for TLS, made by the first request that needs it: nothing of TLS is loaded before. */
    private final class Https {
        private final Supplier<SslContextFactory.Client> trust;
        // Guarded by this.
        private Optional<CompletableFuture<UpstreamClient>> client = Optional.empty();

        Https(Supplier<SslContextFactory.Client> trust) {
            this.trust = trust;
        }

        /** A failure is not kept: the next request tries again. */
        private synchronized CompletableFuture<UpstreamClient> started() {
            if (client.isEmpty() || client.get().isCompletedExceptionally()) {
                CompletableFuture<UpstreamClient> coming = new CompletableFuture<>();
                client = Optional.of(coming);
                // Not on the pool, which it needs: requests that wait must hold none of its few threads.
                Thread.ofPlatform().daemon().name("https-start").start(() -> make(coming));
            }
            return client.get();
        }

        private void make(CompletableFuture<UpstreamClient> coming) {
            try {
                SslContextFactory.Client tls = trust.get();
                // Of its own: a handshake takes long, and nobody else's bytes should wait for it.
                UpstreamConnector connector = connector(Optional::empty);
                UpstreamClient made = client(
                        new SecureTransport(connector, http2(connector), poolIdle, patience),
                        UpstreamClient.NO_CAP,
                        UpstreamClient.CONNECT_TIMEOUT);
                made.setSslContextFactory(tls);
                made.start();
                coming.complete(made);
            } catch (RelayException e) {
                coming.completeExceptionally(e);
            } catch (Exception e) {
                coming.completeExceptionally(
                        new RelayException(FailureKind.CONFIGURATION, "TLS does not start: " + e.getMessage(), e));
            }
        }

        void stop() {
            Optional<CompletableFuture<UpstreamClient>> last;
            synchronized (this) {
                last = client;
            }
            last.ifPresent(made -> made.handle((ready, failure) -> {
                        if (ready != null) {
                            JettyHttpEngine.stop(ready);
                        }
                        return ready;
                    })
                    .join());
        }
    }
}
