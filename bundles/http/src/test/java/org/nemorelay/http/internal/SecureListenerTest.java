package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.Answers;
import org.nemorelay.http.Destination;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.FailureAnswer;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.http.Origin;
import org.nemorelay.http.WireProtocol;
import org.nemorelay.identity.ServerTls;
import org.nemorelay.protocol.TimeScale;

/** A listener over TLS: which protocol it speaks, whom it lets wait, and a client that trusts one root alone. */
@Timeout(60)
final class SecureListenerTest {
    private final List<String> told = new CopyOnWriteArrayList<>();
    private final HttpEngine engine = new JettyHttpEngine(
            Optional::empty,
            new TimeScale(1),
            new Refusals() {
                @Override
                public void noDescriptorLeft() {
                    told.add("descriptors");
                }

                @Override
                public void tooManyHandshakes(String address) {
                    told.add(address);
                }
            },
            SilenceWatch.Patience.USUAL);
    private final ServerTls.OfWorker identity = ServerTls.ofWorker("127.0.0.1");
    private HttpListener listener;

    @BeforeEach
    void listen() {
        listener = engine.listenSecurely(
                "127.0.0.1", 0, identity.listener(), server -> new Handler.Abstract.NonBlocking() {
                    @Override
                    public boolean handle(Request request, Response response, Callback callback) {
                        Answers.json(
                                response,
                                callback,
                                200,
                                request.getConnectionMetaData().getHttpVersion().asString());
                        return true;
                    }
                });
    }

    @AfterEach
    void close() {
        engine.close();
    }

    @Test
    void alpnChoosesAndWithoutItHttp1IsSpoken() throws Exception {
        try (HttpClient client = HttpClient.newBuilder()
                .sslContext(trusting(identity.rootCertificate()))
                .build()) {
            assertEquals("HTTP/2.0", get(client, HttpClient.Version.HTTP_2));
            assertEquals("HTTP/1.1", get(client, HttpClient.Version.HTTP_1_1));
        }
        for (String[] offered : List.of(new String[0], new String[] {"http/1.1"})) {
            try (SSLSocket socket = open(listener.port(), offered)) {
                socket.getOutputStream()
                        .write("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
                String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
                assertTrue(answer.startsWith("HTTP/1.1 200 OK") && answer.endsWith("HTTP/1.1"), answer);
            }
        }
    }

    @Test
    void onlyItsOwnRootVouchesForAServerThatNamesOne() throws Exception {
        Origin origin = Origin.of("https://127.0.0.1:" + listener.port());
        assertEquals(200, status(origin.vouchedBy(identity.rootCertificate())));
        Origin other = origin.vouchedBy(ServerTls.ofWorker("127.0.0.1").rootCertificate());
        assertThrows(ExecutionException.class, () -> status(other));
        assertThrows(ExecutionException.class, () -> status(origin));
        // A connection that one root opened is not used for another.
        assertEquals(200, status(origin.vouchedBy(identity.rootCertificate())));
        assertThrows(ExecutionException.class, () -> status(other));
        ServerTls.OfWorker elsewhere = ServerTls.ofWorker("relay.example");
        try (HttpListener foreign = engine.listenSecurely("127.0.0.1", 0, elsewhere.listener(), server -> null)) {
            assertThrows(
                    ExecutionException.class,
                    () -> status(
                            Origin.of("https://127.0.0.1:" + foreign.port()).vouchedBy(elsewhere.rootCertificate())),
                    "the certificate must be for the host too");
        }
    }

    @Test
    void aClientsLeavingThroughTlsIsNoticedDuringAResponse() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.head();
                    exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                    exchange.chunk(new byte[] {1});
                    if (exchange.peerCloses()) {
                        told.countDown();
                    }
                });
                HttpListener relay = engine.listenSecurely(
                        "127.0.0.1", 0, identity.listener(), server -> new Handler.Abstract.NonBlocking() {
                            @Override
                            public boolean handle(Request request, Response response, Callback callback) {
                                Destination to =
                                        Destination.of(Origin.of(provider.origin()), WireProtocol.HTTP_1_1, "/");
                                engine.forwarder()
                                        .forward(
                                                request,
                                                response,
                                                callback,
                                                to,
                                                ExchangeListener.NONE,
                                                FailureAnswer.GATEWAY);
                                return true;
                            }
                        })) {
            try (SSLSocket client = open(relay.port())) {
                client.getOutputStream().write("GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                assertEquals('H', client.getInputStream().read());
            }
            assertTrue(told.await(10, TimeUnit.SECONDS), "the provider was not told");
        }
    }

    @Test
    void handshakesThatDoNotEndNeitherFillTheListenerNorLast() throws Exception {
        List<SocketChannel> silent = new ArrayList<>();
        try {
            connect("127.0.0.2", 130, silent);
            Relay.await("one address has half of them", () -> ended(silent) == 2);
            assertEquals(List.of("127.0.0.2"), told);
            try (SSLSocket another = open(listener.port())) {
                assertTrue(another.getSession().isValid());
            }
            connect("127.0.0.3", 128, silent);
            connect("127.0.0.4", 2, silent);
            Relay.await("all of them are taken", () -> ended(silent) == 4);
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
            while (ended(silent) < 260) {
                assertTrue(System.nanoTime() < deadline, "the others after 10 s");
                LockSupport.parkNanos(10_000_000);
            }
            try (SSLSocket welcome = open(listener.port())) {
                assertTrue(welcome.getSession().isValid());
            }
        } finally {
            for (SocketChannel channel : silent) {
                channel.close();
            }
        }
    }

    private void connect(String from, int count, List<SocketChannel> channels) throws IOException {
        for (int i = 0; i < count; i++) {
            SocketChannel channel = SocketChannel.open();
            channels.add(channel);
            channel.bind(new InetSocketAddress(from, 0));
            channel.connect(new InetSocketAddress("127.0.0.1", listener.port()));
            channel.configureBlocking(false);
        }
    }

    private static long ended(List<SocketChannel> channels) {
        return channels.stream()
                .filter(channel -> {
                    try {
                        return channel.read(ByteBuffer.allocate(1)) < 0;
                    } catch (IOException e) {
                        return true;
                    }
                })
                .count();
    }

    private int status(Origin origin) throws ExecutionException, InterruptedException {
        return engine.status(origin, WireProtocol.HTTP_1_1, "/", new HttpField("x-token", "t"), 5_000)
                .get();
    }

    private String get(HttpClient client, HttpClient.Version version) throws Exception {
        return client.send(
                        HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + listener.port() + "/"))
                                .version(version)
                                .timeout(Duration.ofSeconds(20))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private SSLSocket open(int port, String... protocols) throws Exception {
        SSLSocket socket = (SSLSocket)
                trusting(identity.rootCertificate()).getSocketFactory().createSocket("127.0.0.1", port);
        SSLParameters parameters = socket.getSSLParameters();
        parameters.setApplicationProtocols(protocols);
        socket.setSSLParameters(parameters);
        socket.startHandshake();
        return socket;
    }

    private static SSLContext trusting(String root) throws Exception {
        KeyStore store = ServerTls.trustOnly(root);
        TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        return context;
    }
}
