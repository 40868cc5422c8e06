package org.nemorelay.carrier.nats.internal;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.NatsServer;
import org.nemorelay.testkit.Recorder;

class TlsTest {
    /** Made once: each key costs a start of keytool. */
    @TempDir
    static Path folder;

    private static Certificates certificates;
    private static Certificates strangers;

    @BeforeAll
    static void issue() {
        NatsServer.requireInstalled();
        certificates = Certificates.in(folder.resolve("a"));
        strangers = Certificates.in(folder.resolve("b"));
    }

    private final Recorder recorder = new Recorder();

    private NatsServer server(String name, boolean verify) {
        Certificates.Pair pair = certificates.issued(name.replaceAll("[^a-z0-9]", "-"), name);
        return NatsServer.start("tls { cert_file: \"" + pair.certificate() + "\", key_file: \"" + pair.key()
                + "\", ca_file: \"" + certificates.ca() + "\", verify: " + verify + " }");
    }

    private Map<String, Object> trusting(NatsServer server, Certificates certificates) {
        Map<String, Object> config = new HashMap<>();
        config.put("servers", new String[] {"tls://127.0.0.1:" + server.port()});
        config.put("tls_ca", certificates.ca().toString());
        return config;
    }

    private void refused(Map<String, Object> config, String word) {
        NatsCarrier carrier = Links.open(config, recorder);
        Await.until(
                "it is said: " + word,
                () -> recorder.lines().stream().anyMatch(line -> line.startsWith("ERROR") && line.contains(word)));
        Await.never("connected", Duration.ofMillis(300), carrier::connected);
        carrier.close();
    }

    @Test
    void theServersCertificateIsChecked() {
        try (NatsServer server = server("ip:127.0.0.1", false)) {
            NatsCarrier carrier = Links.connected(trusting(server, certificates), recorder);
            carrier.broadcaster().flush(Duration.ofSeconds(5));
            carrier.close();
        }
    }

    @Test
    void aStrangersCertificateIsRefused() {
        try (NatsServer server = server("ip:127.0.0.1", false)) {
            refused(trusting(server, strangers), "trust anchors");
        }
    }

    @Test
    void aCertificateForAnotherNameIsRefused() {
        try (NatsServer server = server("ip:127.9.9.9", false)) {
            refused(trusting(server, certificates), "subject alternative names");
        }
    }

    @Test
    void aServerWithoutTlsIsRefused() {
        try (NatsServer server = NatsServer.start()) {
            refused(trusting(server, certificates), "SSL connection wanted");
        }
    }

    @Test
    void mutualTlsAlsoAfterReconnectsWithNewFiles() {
        try (NatsServer server = server("ip:127.0.0.1", true)) {
            Certificates.Pair pair = certificates.issue("client", "dns:client");
            Map<String, Object> config = trusting(server, certificates);
            config.put("tls_cert", pair.certificate().toString());
            config.put("tls_key", pair.key().toString());
            NatsCarrier carrier = Links.connected(config, recorder);
            server.kill();
            Await.until("down", () -> !carrier.connected());
            certificates.issue("client", "dns:renewed");
            server.restart();
            Await.until("back; " + recorder.lines(), carrier::connected);
            carrier.close();
        }
        assertTrue(recorder.lines().stream().noneMatch(line -> line.contains("PRIVATE KEY")));
    }

    @Test
    void withoutOwnCertificateAVerifyingServerRefuses() {
        try (NatsServer server = server("ip:127.0.0.1", true)) {
            NatsCarrier carrier = Links.open(trusting(server, certificates), recorder);
            Await.never("connected", Duration.ofMillis(700), carrier::connected);
            carrier.close();
        }
    }
}
