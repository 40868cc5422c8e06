package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyStore;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.http.Outcome;

/** A provider behind TLS whose certificate nobody vouches for gets nothing. */
@Timeout(60)
final class HttpsUpstreamTest {
    @Test
    void untrustedCertificateIs502(@TempDir Path folder) throws Exception {
        Path store = folder.resolve("store.p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-genkeypair",
                        "-keyalg",
                        "EC",
                        "-alias",
                        "a",
                        "-dname",
                        "CN=localhost",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        "secret")
                .redirectErrorStream(true)
                .start();
        keytool.getInputStream().readAllBytes();
        assertEquals(0, keytool.waitFor());
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(KeyStore.getInstance(store.toFile(), "secret".toCharArray()), "secret".toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        try (SSLServerSocket server =
                (SSLServerSocket) context.getServerSocketFactory().createServerSocket(0)) {
            Thread.ofVirtual().start(() -> {
                try (SSLSocket socket = (SSLSocket) server.accept()) {
                    socket.startHandshake();
                } catch (IOException e) {
                    // The client refuses the certificate.
                }
            });
            try (Relay relay = new Relay("https://localhost:" + server.getLocalPort());
                    RawClient client = new RawClient(relay.port())) {
                assertEquals(
                        502,
                        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").read().status());
                assertInstanceOf(Outcome.ConnectFailed.class, relay.outcome());
            }
        }
    }
}
