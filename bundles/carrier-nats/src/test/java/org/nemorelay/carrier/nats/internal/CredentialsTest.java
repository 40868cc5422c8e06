package org.nemorelay.carrier.nats.internal;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.NatsServer;
import org.nemorelay.testkit.Recorder;

class CredentialsTest {
    private static final String SECRET = "s3cr:t @/%?#€";

    @TempDir
    Path folder;

    private final Recorder recorder = new Recorder();

    private String file(String text) throws IOException {
        return Files.writeString(folder.resolve("secret"), text + "\n").toString();
    }

    private void connects(NatsServer server, Map<String, Object> credentials) {
        Map<String, Object> config = new java.util.HashMap<>(credentials);
        config.put("servers", Links.at(server));
        try (server) {
            NatsCarrier carrier = Links.connected(config, recorder);
            carrier.broadcaster().flush(Duration.ofSeconds(5));
            carrier.close();
        }
    }

    @Test
    void userAndPassword() throws IOException {
        connects(
                NatsServer.start("authorization { user: \"ann\", password: \"" + SECRET + "\" }"),
                Map.of("user", "ann", "password_file", file(SECRET)));
        assertFalse(
                recorder.lines().toString().contains("s3cr"), recorder.lines().toString());
    }

    @Test
    void token() throws IOException {
        connects(NatsServer.start("authorization { token: \"tok-en\" }"), Map.of("token_file", file("tok-en")));
    }

    @Test
    void nkey() throws IOException {
        Keys user = Keys.user();
        connects(
                NatsServer.start("authorization { users: [ { nkey: \"" + user.publicKey() + "\" } ] }"),
                Map.of("nkey_file", file(user.seed())));
    }

    @Test
    void jwt() throws IOException {
        Jwts jwts = Jwts.make();
        connects(NatsServer.start(jwts.serverSettings()), Map.of("credentials_file", file(jwts.userCredentials())));
    }

    @Test
    void aWrongPasswordIsRetriedForEverAndARightOneInTheFileHelps() throws IOException {
        try (NatsServer server = NatsServer.start("authorization { user: \"ann\", password: \"right\" }")) {
            NatsCarrier carrier = Links.open(
                    Map.of("servers", Links.at(server), "user", "ann", "password_file", file("wrong-one")), recorder);
            Await.until(
                    "it is said",
                    () -> recorder.lines().stream()
                            .anyMatch(line -> line.startsWith("ERROR") && line.contains("Authorization Violation")));
            Await.never("it connects", Duration.ofMillis(700), carrier::connected);
            file("right");
            Await.until("it connects", carrier::connected);
            assertFalse(recorder.lines().toString().contains("wrong-one"));
            carrier.close();
        }
    }

    @Test
    void credentialsAreReadAgainForEachReconnectAlsoAfterRefusals() throws IOException {
        try (NatsServer server = NatsServer.start("authorization { user: \"ann\", password: \"one\" }")) {
            NatsCarrier carrier = Links.connected(
                    Map.of("servers", Links.at(server), "user", "ann", "password_file", file("one")), recorder);
            java.util.concurrent.atomic.AtomicInteger seen = new java.util.concurrent.atomic.AtomicInteger();
            carrier.broadcaster().subscribe("jobs.new", message -> seen.incrementAndGet());
            server.kill();
            server.restart("authorization { user: \"ann\", password: \"two\" }");
            // Long enough for the client library to give up over the same refusal twice.
            Await.never("the old one is taken", Duration.ofSeconds(2), carrier::connected);
            file("two");
            Await.until("the new one is taken", carrier::connected);
            Await.until("the subscription stands", () -> {
                carrier.broadcaster().publish("jobs.new", new byte[0]);
                return seen.get() > 0;
            });
            carrier.close();
        }
    }

    @Test
    void aFileThatIsMissingIsSaidAndWaitedFor() throws IOException {
        try (NatsServer server = NatsServer.start("authorization { token: \"t\" }")) {
            Path token = folder.resolve("later");
            NatsCarrier carrier =
                    Links.open(Map.of("servers", Links.at(server), "token_file", token.toString()), recorder);
            Await.until(
                    "it is said",
                    () -> recorder.lines().stream()
                            .anyMatch(line -> line.contains("Authorization Violation")
                                    || line.contains("cannot read the credentials in " + token)
                                    || line.contains("cannot connect")));
            Files.writeString(token, "t");
            Await.until("connected", carrier::connected);
            carrier.close();
        }
    }

    @Test
    void halvesAndDoublesAreErrorsOfTheConfiguration() {
        for (Map<String, Object> wrong : java.util.List.<Map<String, Object>>of(
                Map.of("user", "ann"),
                Map.of("password_file", "x"),
                Map.of("token_file", "x", "nkey_file", "y"),
                Map.of("tls_cert", "x"),
                Map.of("tls_ca", folder.resolve("missing").toString()),
                Map.of("servers", new String[] {"nats://u:geheim@host:1"}),
                Map.of("servers", new String[] {"http://host"}),
                Map.of("servers", new String[] {"nats://ho st"}),
                Map.of("servers", new String[0]))) {
            RelayException refused =
                    assertThrows(RelayException.class, () -> Settings.of(Links.config(wrong)), wrong.toString());
            assertTrue(refused.getMessage().startsWith("carrier nats: "), refused.getMessage());
            assertFalse(refused.getMessage().contains("geheim"), refused.getMessage());
        }
    }
}
