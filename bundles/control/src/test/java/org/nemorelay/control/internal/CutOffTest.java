package org.nemorelay.control.internal;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.util.Base64;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.identity.ServerTls;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.control.ControlPaths;
import org.nemorelay.protocol.control.Ids;

/** A daemon behind a link that was cut answers nothing, not even the end of a TLS connection. */
@Timeout(120)
class CutOffTest {
    @TempDir
    Path folder;

    /** It is asked after 30 s, has 10 s, and the connection is over then: nothing waits for its end. */
    @Test
    @Tag("long")
    void silenceIsNoticedAfterFortySeconds() throws Exception {
        InetAddress own = ownAddress();
        ServerTls.OfWorker tls = ServerTls.ofWorker(own.getHostAddress());
        Path root = folder.resolve("root.pem");
        Files.writeString(
                root,
                "-----BEGIN CERTIFICATE-----\n"
                        + Base64.getMimeEncoder()
                                .encodeToString(Base64.getUrlDecoder().decode(tls.rootCertificate()))
                        + "\n-----END CERTIFICATE-----\n");
        try (SSLServerSocket server =
                (SSLServerSocket) context(tls).getServerSocketFactory().createServerSocket(0, 1, own)) {
            Thread.ofPlatform().daemon().start(() -> upgradeAndFallSilent(server));
            WebSocket socket = WebSocket.open(
                    new DaemonUrl(true, own.getHostAddress(), server.getLocalPort()),
                    ControlPaths.MCP,
                    new Ids(),
                    new ClientTls(Map.of("SSL_CERT_FILE", root.toString())),
                    System.nanoTime() + 20_000_000_000L);
            long start = System.nanoTime();
            assertThrows(IOException.class, socket::read);
            socket.close();
            long took = (System.nanoTime() - start) / 1_000_000;
            assertTrue(took >= 39_000 && took < 55_000, took + " ms");
        }
    }

    private static InetAddress ownAddress() throws IOException {
        try (DatagramSocket socket = new DatagramSocket()) {
            socket.connect(new InetSocketAddress("192.0.2.1", 9));
            InetAddress own = socket.getLocalAddress();
            Assumptions.assumeFalse(own.isLoopbackAddress() || own.isAnyLocalAddress(), "no address but loopback");
            return own;
        } catch (UncheckedIOException e) {
            return Assumptions.abort("no way to another machine: " + e.getMessage());
        }
    }

    private static SSLContext context(ServerTls.OfWorker tls) throws GeneralSecurityException {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(tls.listener().keyStore(), new char[0]);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context;
    }

    private static void upgradeAndFallSilent(SSLServerSocket server) {
        try (SSLSocket socket = (SSLSocket) server.accept()) {
            StringBuilder head = new StringBuilder();
            while (head.indexOf("\r\n\r\n") < 0) {
                head.append((char) socket.getInputStream().read());
            }
            String key = head.toString().replaceAll("(?s).*Sec-WebSocket-Key: (\\S+).*", "$1");
            byte[] digest = MessageDigest.getInstance("SHA-1")
                    .digest((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream()
                    .write(("HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: "
                                    + Base64.getEncoder().encodeToString(digest) + "\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            Thread.sleep(100_000);
        } catch (IOException | GeneralSecurityException | InterruptedException e) {
            // The test is over.
        }
    }
}
