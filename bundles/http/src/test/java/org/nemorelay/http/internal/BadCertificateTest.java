package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.http.Outcome;

/** A provider that cannot prove who it is gets nothing, and the client reads in one line what is wrong. */
@Timeout(60)
final class BadCertificateTest {
    private static final String POST =
            "POST /v1/x HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer sk-very-secret\r\nContent-Length: 2\r\n\r\n{}";

    @TempDir
    static Path folder;

    private static TestCertificates certificates;

    @BeforeAll
    static void make() {
        certificates = new TestCertificates(folder);
        certificates.issue("good", "dns:localhost");
        certificates.issue("expired", "dns:localhost", "-startdate", "-10d", "-validity", "5");
        certificates.issue("early", "dns:localhost", "-startdate", "+10d", "-validity", "5");
        certificates.issue("other", "dns:provider.example");
        certificates.selfSigned("stranger");
        certificates.selfSigned("old", "-startdate", "-10d", "-validity", "5");
    }

    private static ServerSocket tls(String alias) throws Exception {
        return certificates
                .server(alias)
                .getServerSocketFactory()
                .createServerSocket(0, 64, InetAddress.getLoopbackAddress());
    }

    private static void refused(ServerSocket socket, Map<String, String> environment, String clause) throws Exception {
        AtomicReference<String> received = new AtomicReference<>();
        try (RawProvider provider = new RawProvider(socket, exchange -> received.set(exchange.head()));
                Relay relay = new Relay("https://localhost:" + provider.port(), environment);
                RawClient client = new RawClient(relay.port())) {
            RawClient.Answer got = client.send(POST).read();
            assertEquals(502, got.status());
            assertTrue(
                    got.text().contains("cannot connect to https://localhost:" + provider.port() + ": "), got.text());
            assertTrue(got.text().contains(clause), got.text());
            assertFalse(got.text().contains("\\n") || got.text().contains("secret"), got.text());
            assertInstanceOf(Outcome.ConnectFailed.class, relay.outcome());
            // Nor is the connection of the client lost, nor the second answer another one.
            assertEquals(got.text(), client.send(POST).read().text());
            assertEquals(null, received.get());
        }
    }

    @Test
    void nobodyTrustedVouchesForIt() throws Exception {
        refused(
                tls("stranger"),
                certificates.trusting("authority"),
                "no trusted authority vouches for its certificate");
        refused(tls("good"), Map.of(), "no trusted authority vouches for its certificate");
    }

    @Test
    void expired() throws Exception {
        refused(tls("expired"), certificates.trusting("authority"), "its certificate has expired");
    }

    @Test
    void expiredThoughTrustedItself() throws Exception {
        refused(tls("old"), certificates.trusting("old"), "its certificate has expired");
    }

    @Test
    void notValidYet() throws Exception {
        refused(tls("early"), certificates.trusting("authority"), "its certificate is not valid yet");
    }

    @Test
    void forAnotherHost() throws Exception {
        refused(tls("other"), certificates.trusting("authority"), "its certificate is for another host name");
    }

    @Test
    void noTlsAtAll() throws Exception {
        ServerSocket plain = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        try (RawProvider provider = new RawProvider(plain, exchange -> {
                    exchange.in().readNBytes(5);
                    exchange.send("HTTP/1.1 400 Bad Request\r\n\r\n");
                });
                Relay relay = new Relay("https://localhost:" + provider.port(), certificates.trusting("authority"));
                RawClient client = new RawClient(relay.port())) {
            RawClient.Answer got = client.send(POST).read();
            assertEquals(502, got.status());
            assertTrue(got.text().contains("it does not speak TLS on this port"), got.text());
            assertInstanceOf(Outcome.ConnectFailed.class, relay.outcome());
        }
    }

    @Test
    void hangsUpInTheHandshake() throws Exception {
        ServerSocket plain = new ServerSocket(0, 64, InetAddress.getLoopbackAddress());
        try (RawProvider provider =
                        new RawProvider(plain, exchange -> exchange.in().readNBytes(5));
                Relay relay = new Relay("https://localhost:" + provider.port(), certificates.trusting("authority"));
                RawClient client = new RawClient(relay.port())) {
            RawClient.Answer got = client.send(POST).read();
            assertEquals(502, got.status());
            assertTrue(got.text().contains("cannot connect to https://localhost:"), got.text());
            assertInstanceOf(Outcome.ConnectFailed.class, relay.outcome());
        }
    }

    @Test
    void variableThatNamesNothingUsable() throws Exception {
        Path missing = folder.resolve("missing.pem");
        refused(
                tls("good"),
                Map.of("SSL_CERT_FILE", missing.toString()),
                "SSL_CERT_FILE=" + missing + ": does not exist");
        Path empty = Files.writeString(folder.resolve("empty.pem"), "no certificate\n");
        refused(
                tls("good"),
                Map.of("SSL_CERT_FILE", empty.toString()),
                "SSL_CERT_FILE=" + empty + " holds no certificate");
    }

    @Test
    void aMendedFileIsSeenByTheNextRequest() throws Exception {
        Path file = folder.resolve("later.pem");
        try (RawProvider provider = new RawProvider(tls("good"), exchange -> {
                    exchange.body(exchange.head());
                    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                });
                Relay relay =
                        new Relay("https://localhost:" + provider.port(), Map.of("SSL_CERT_FILE", file.toString()));
                RawClient client = new RawClient(relay.port())) {
            assertEquals(502, client.send(POST).read().status());
            Files.copy(certificates.pem("authority"), file);
            assertEquals("ok", client.send(POST).read().text());
        }
    }
}
