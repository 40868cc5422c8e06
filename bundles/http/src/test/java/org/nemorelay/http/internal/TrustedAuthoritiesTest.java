package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.identity.TrustedAuthorities;

/** What {@code SSL_CERT_FILE} and {@code SSL_CERT_DIR} make of the system's authorities. */
final class TrustedAuthoritiesTest {
    @Test
    void fileAndFoldersStandTogetherInsteadOfTheSystems(@TempDir Path folder) throws Exception {
        TestCertificates certificates = new TestCertificates(folder);
        certificates.selfSigned("other");
        Path first = Files.createDirectory(folder.resolve("first"));
        Path second = Files.createDirectory(folder.resolve("second"));
        Files.copy(certificates.pem("authority"), first.resolve("authority.pem"));
        Files.copy(certificates.pem("authority"), first.resolve("0123abcd.0"));
        Files.writeString(
                first.resolve("damaged.pem"), "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        Files.createDirectory(first.resolve("folder"));
        Files.copy(certificates.pem("other"), second.resolve("other.crt"));

        assertEquals(1, size(Map.of("SSL_CERT_FILE", certificates.pem("other").toString())));
        assertEquals(1, size(Map.of("SSL_CERT_DIR", first.toString())));
        assertEquals(2, size(Map.of("SSL_CERT_DIR", first + ":" + folder.resolve("absent") + ":" + second)));
        assertEquals(
                2,
                size(Map.of("SSL_CERT_FILE", certificates.pem("other").toString(), "SSL_CERT_DIR", first.toString())));
        assertEquals(
                1,
                size(Map.of("SSL_CERT_FILE", folder.resolve("absent").toString(), "SSL_CERT_DIR", first.toString())));
    }

    @Test
    void withoutThemTheSystemsOwn() throws Exception {
        Path debian = Path.of("/etc/ssl/certs/ca-certificates.crt");
        if (Files.isReadable(debian)) {
            assertTrue(size(Map.of()) > 10);
        }
    }

    private static int size(Map<String, String> environment) throws Exception {
        return TrustedAuthorities.read(environment).orElseThrow().size();
    }
}
