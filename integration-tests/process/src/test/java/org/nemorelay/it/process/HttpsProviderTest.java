package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/** A provider behind TLS, with the trust that the environment of daemon and worker names. */
@Timeout(120)
class HttpsProviderTest {
    private static final String PASSWORD = "secret";

    @TempDir
    Path folder;

    @Test
    void isReachedInPassThroughAndByTheWorkerAndRefusedWithoutTrust() throws Exception {
        KeyStore store = selfSigned();
        Path trusted = Files.writeString(
                folder.resolve("trusted.pem"),
                "-----BEGIN CERTIFICATE-----\n"
                        + Base64.getMimeEncoder()
                                .encodeToString(store.getCertificate("a").getEncoded())
                        + "\n-----END CERTIFICATE-----\n");
        User user = User.self(folder.resolve("home"));
        try (MockProvider provider = new MockProvider(listener(store))) {
            String base = "https://localhost:" + provider.port();
            Path executable = Distribution.privateTree(
                            folder.resolve("tree"),
                            Relay.upstreamToml(base + Route.WORKER.at("")),
                            Relay.observabilityToml(folder))
                    .resolve("bin/nemo-relay");
            provider.respond(
                    Route.WORKER.at("/v1/messages"), (request, reply) -> reply.sized(200, "text/plain", "worker"));
            provider.respond("/v1/messages", (request, reply) -> reply.sized(200, "text/plain", "pass-through"));
            Proc.Spec environment =
                    Proc.spec().env("NEMO_RELAY_ANTHROPIC_BASE_URL", base).env("SSL_CERT_FILE", trusted.toString());
            try (Relay relay = Relay.start(user, executable, environment);
                    McpSession mcp = McpSession.start(
                            user.withToken(executable.toString(), "daemon", "mcp", "--daemon-address", relay.address())
                                    .env("SSL_CERT_FILE", trusted.toString()))) {
                mcp.initialize();
                relay.awaitReadyWorker(mcp);
                assertEquals(
                        "pass-through",
                        RawHttp.post(relay.port(), "/v1/messages", "{}").text());
                RawHttp.Answer answer = RawHttp.post(relay.port(), "/v1/messages", "{}", user.header());
                assertEquals("worker", answer.text());
                assertEquals(0, mcp.end());
                relay.awaitNoWorker(Duration.ofSeconds(10));
            }
            int before = provider.received().size();
            environment.env("SSL_CERT_FILE", "");
            try (Relay relay = Relay.start(user, executable, environment);
                    McpSession mcp = McpSession.initialized(user, executable, relay)) {
                relay.awaitReadyWorker(mcp);
                for (String[] headers : List.of(new String[0], new String[] {user.header()})) {
                    RawHttp.Answer answer = RawHttp.post(relay.port(), "/v1/messages", "{}", headers);
                    assertEquals(502, answer.status());
                    assertTrue(
                            answer.text().contains("no trusted authority vouches for its certificate"), answer.text());
                }
            }
            assertEquals(before, provider.received().size());
        }
    }

    private KeyStore selfSigned() throws Exception {
        Path file = folder.resolve("store.p12");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-keyalg",
                "EC",
                "-alias",
                "a",
                "-dname",
                "CN=localhost",
                "-ext",
                "san=dns:localhost"));
        command.addAll(List.of("-keystore", file.toString(), "-storepass", PASSWORD));
        Process keytool = new ProcessBuilder(command).inheritIO().start();
        if (!keytool.waitFor(30, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
            throw new IOException("keytool failed");
        }
        return KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
    }

    private static ServerSocket listener(KeyStore store) throws Exception {
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, PASSWORD.toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        return context.getServerSocketFactory().createServerSocket(0, 64, InetAddress.getLoopbackAddress());
    }
}
