package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLServerSocket;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http2.server.HTTP2ServerConnectionFactory;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.component.LifeCycle;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.WireProtocol;

/** A provider behind TLS speaks the HTTP version that it chooses; the client's side does not notice. */
@Timeout(60)
final class HttpsUpstreamTest {
    @TempDir
    static Path folder;

    private static TestCertificates certificates;

    @BeforeAll
    static void make() {
        certificates = new TestCertificates(folder);
        certificates.issue("server", "dns:localhost,ip:127.0.0.1");
    }

    private static SSLServerSocket socket(String... protocols) throws Exception {
        SSLServerSocket socket = (SSLServerSocket) certificates
                .server("server")
                .getServerSocketFactory()
                .createServerSocket(0, 64, InetAddress.getLoopbackAddress());
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(protocols);
        socket.setSSLParameters(parameters);
        return socket;
    }

    @Test
    void aConnectionThatFailsIsTheFailureOfOneRequest() throws Exception {
        int requests = 6;
        AtomicInteger accepted = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(requests);
        try (RawProvider provider = new RawProvider(socket("http/1.1"), exchange -> {
                    boolean first = accepted.incrementAndGet() == 1;
                    all.countDown();
                    all.await();
                    if (first) {
                        exchange.socket().close();
                        return;
                    }
                    while (exchange.head() != null) {
                        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                    }
                });
                Relay relay = new Relay("https://localhost:" + provider.port(), certificates.trusting("authority"))) {
            List<RawClient> clients = new ArrayList<>();
            for (int i = 0; i < requests; i++) {
                clients.add(new RawClient(relay.port()).send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
            }
            List<String> failed = new ArrayList<>();
            for (RawClient client : clients) {
                RawClient.Answer got = client.read();
                if (got.status() != 200) {
                    failed.add(got.text());
                }
                client.close();
            }
            // None where the pool has opened one too many.
            assertTrue(failed.size() <= 1, failed::toString);
        }
    }

    @Test
    void http11WithAndWithoutNegotiation() throws Exception {
        for (String[] protocols : List.of(new String[0], new String[] {"http/1.1"})) {
            AtomicReference<String> head = new AtomicReference<>();
            List<String> up = new ArrayList<>();
            try (RawProvider provider = new RawProvider(socket(protocols), exchange -> {
                        head.set(exchange.head());
                        byte[] body = RawClient.readChunked(exchange.in(), up);
                        exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                        exchange.chunk(body);
                        exchange.send("0\r\nX-End: 1\r\nX-End: 2\r\n\r\n");
                    });
                    Relay relay =
                            new Relay("https://localhost:" + provider.port(), certificates.trusting("authority"));
                    RawClient client = new RawClient(relay.port())) {
                RawClient.Answer got = client.send("POST /v1/x?y=%20 HTTP/1.1\r\nHost: x\r\n"
                                + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n")
                        .read();
                assertEquals("abc", got.text());
                assertEquals(List.of("x-end: 1", "x-end: 2"), got.trailers());
                assertEquals(List.of("x-sum: 1"), up);
                assertTrue(head.get().startsWith("POST /v1/x?y=%20 HTTP/1.1\r\n"), head.get());
                assertTrue(head.get().contains("Host: localhost:" + provider.port() + "\r\n"), head.get());
                assertEquals(new Outcome.Completed(200), relay.outcome());
            }
        }
    }

    @Test
    void http2WhereTheServerChoosesIt() throws Exception {
        byte[] body = new byte[300_000];
        new Random(1).nextBytes(body);
        AtomicReference<Request> seen = new AtomicReference<>();
        try (Http2Provider provider = new Http2Provider(certificates, new Handler.Abstract.NonBlocking() {
                    @Override
                    public boolean handle(Request request, Response response, Callback callback) {
                        seen.set(request);
                        HttpFields.Mutable trailers = HttpFields.build();
                        trailers.add("x-end", "1").add("x-end", "2");
                        response.setTrailersSupplier(() -> trailers);
                        response.getHeaders().add("x-many", "a").add("x-many", "b");
                        Content.copy(request, response, callback);
                        return true;
                    }
                });
                Relay relay = new Relay("https://localhost:" + provider.port(), certificates.trusting("authority"));
                RawClient client = new RawClient(relay.port())) {
            client.send("POST /v1/x?y=%20 HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nX-A: 2\r\nContent-Length: 300000\r\n\r\n");
            client.out.write(body);
            RawClient.Answer got = client.read();
            assertArrayEquals(body, got.body());
            assertEquals(List.of("x-end: 1", "x-end: 2"), got.trailers());
            assertEquals(List.of("a", "b"), got.header("x-many"));
            Request request = seen.get();
            assertEquals(HttpVersion.HTTP_2, request.getConnectionMetaData().getHttpVersion());
            assertEquals("/v1/x?y=%20", request.getHttpURI().getPathQuery());
            assertEquals("localhost:" + provider.port(), request.getHttpURI().getAuthority());
            assertEquals(List.of("1", "2"), request.getHeaders().getValuesList("x-a"));
            assertEquals(List.of("trailers"), request.getHeaders().getValuesList(HttpHeader.TE));
            assertEquals(
                    1,
                    request.getHeaders().stream()
                            .map(HttpField::getHeader)
                            .filter(HttpHeader.CONTENT_LENGTH::equals)
                            .count());
            assertEquals(new Outcome.Completed(200), relay.outcome());
            // The answer began before the request had ended, so it was the client's connection's last.
            try (RawClient next = new RawClient(relay.port())) {
                assertEquals(
                        200,
                        next.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").read().status());
            }
            assertEquals(1, provider.connections.get());
        }
    }

    @Test
    void firstBytesAndCancellationPassOverHttp2() throws Exception {
        CountDownLatch cancelled = new CountDownLatch(1);
        try (Http2Provider provider = new Http2Provider(certificates, new Handler.Abstract.NonBlocking() {
                    @Override
                    public boolean handle(Request request, Response response, Callback callback) {
                        request.addFailureListener(failure -> cancelled.countDown());
                        response.write(false, StandardCharsets.UTF_8.encode("data: 1\n\n"), Callback.NOOP);
                        return true;
                    }
                });
                Relay relay = new Relay("https://localhost:" + provider.port(), certificates.trusting("authority"))) {
            try (RawClient client = new RawClient(relay.port())) {
                client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").readHead();
                assertEquals("data: 1\n\n", new String(client.readChunk(), StandardCharsets.UTF_8));
            }
            assertTrue(cancelled.await(5, TimeUnit.SECONDS));
            assertInstanceOf(Outcome.ClientCancelled.class, relay.outcome());
        }
    }

    /** Report B14: what a provider broke off never looks whole, whichever protocol is between. */
    @Test
    void aStreamThatTheProviderResetsBreaksTheClientsBody() throws Exception {
        CountDownLatch seen = new CountDownLatch(1);
        try (Http2Provider provider = new Http2Provider(certificates, new Handler.Abstract() {
                    @Override
                    public boolean handle(Request request, Response response, Callback callback) throws Exception {
                        response.write(false, StandardCharsets.UTF_8.encode("data: 1\n\n"), Callback.NOOP);
                        seen.await();
                        callback.failed(new IOException("reset"));
                        return true;
                    }
                });
                Relay inner = new Relay("https://localhost:" + provider.port(), certificates.trusting("authority"));
                Relay overHttp1 = inner.behind(WireProtocol.HTTP_1_1);
                Relay overH2c = inner.behind(WireProtocol.H2C)) {
            List<RawClient> clients = new ArrayList<>();
            try {
                for (Relay relay : List.of(inner, overHttp1, overH2c)) {
                    RawClient client = new RawClient(relay.port());
                    clients.add(client);
                    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").readHead();
                    assertEquals("data: 1\n\n", new String(client.readChunk(), StandardCharsets.UTF_8));
                }
                seen.countDown();
                for (RawClient client : clients) {
                    assertThrows(IOException.class, client::readChunk);
                }
                for (Relay relay : List.of(overHttp1, overH2c)) {
                    assertInstanceOf(Outcome.BodyBroken.class, relay.outcome());
                }
            } finally {
                for (RawClient client : clients) {
                    client.close();
                }
            }
        }
    }

    @Test
    void manyRequestsAtOnce() throws Exception {
        try (Http2Provider provider = new Http2Provider(certificates, new Handler.Abstract.NonBlocking() {
                    @Override
                    public boolean handle(Request request, Response response, Callback callback) {
                        Content.copy(request, response, callback);
                        return true;
                    }
                });
                Relay relay = new Relay("https://localhost:" + provider.port(), certificates.trusting("authority"))) {
            List<RawClient> clients = new ArrayList<>();
            try {
                for (int i = 0; i < 100; i++) {
                    RawClient client = new RawClient(relay.port());
                    clients.add(client);
                    String body = String.format(Locale.ROOT, "%05d", i);
                    client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\n" + body);
                }
                for (int i = 0; i < 100; i++) {
                    assertEquals(
                            String.format(Locale.ROOT, "%05d", i),
                            clients.get(i).read().text());
                }
            } finally {
                for (RawClient client : clients) {
                    client.close();
                }
            }
        }
    }

    /** HTTP/2 and nothing else. */
    static final class Http2Provider implements AutoCloseable {
        final AtomicInteger connections = new AtomicInteger();
        private final Server server = new Server();
        private final ServerConnector connector;

        Http2Provider(TestCertificates certificates, Handler handler) throws Exception {
            SslContextFactory.Server tls = new SslContextFactory.Server() {
                @Override
                public void customize(SSLEngine engine) {
                    super.customize(engine);
                    SSLParameters parameters = engine.getSSLParameters();
                    parameters.setApplicationProtocols(new String[] {"h2"});
                    engine.setSSLParameters(parameters);
                }
            };
            tls.setSslContext(certificates.server("server"));
            connector = new ServerConnector(
                    server,
                    new SslConnectionFactory(tls, "h2"),
                    new HTTP2ServerConnectionFactory(new HttpConfiguration(), "h2"));
            connector.setHost("127.0.0.1");
            connector.addBean(new Connection.Listener() {
                @Override
                public void onOpened(Connection connection) {
                    if (connection instanceof org.eclipse.jetty.io.ssl.SslConnection) {
                        connections.incrementAndGet();
                    }
                }
            });
            server.addConnector(connector);
            server.setHandler(handler);
            server.start();
        }

        int port() {
            return connector.getLocalPort();
        }

        @Override
        public void close() {
            LifeCycle.stop(server);
        }
    }
}
