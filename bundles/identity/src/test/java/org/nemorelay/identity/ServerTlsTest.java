package org.nemorelay.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.identity.internal.SelfSigned;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** The files of a daemon's listener, and what a worker makes for its own. */
class ServerTlsTest {
    @TempDir
    Path folder;

    private final SelfSigned own = SelfSigned.make();
    private Path certificate;
    private Path key;

    @BeforeEach
    void files() throws Exception {
        certificate = write("cert.pem", pem("CERTIFICATE", own.certificate()));
        key = write("key.pem", pem("PRIVATE KEY", own.privateKey()));
    }

    @Test
    void certificatesAndKeyAreRead() throws Exception {
        write(
                "cert.pem",
                "a comment\n" + pem("CERTIFICATE", own.certificate())
                        + pem("CERTIFICATE", SelfSigned.make().certificate()));
        KeyStore store = ServerTls.read(certificate, key).keyStore();
        assertEquals(2, store.getCertificateChain("listener").length);
        Path link = Files.createSymbolicLink(folder.resolve("link.pem"), key);
        assertEquals(1, ServerTls.read(certificate, link).keyStore().size());
    }

    @Test
    void case46WhatIsWrongIsNamedWithItsFile() throws Exception {
        String cert = "daemon TLS certificate " + certificate;
        refused("", cert + " contains no CERTIFICATE blocks");
        refused("-----BEGIN CERTIFICATE-----\nAAAA", cert + " has an unterminated CERTIFICATE block");
        refused(
                "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----\n",
                cert + " contains invalid CERTIFICATE base64");
        refused(pem("CERTIFICATE", new byte[] {1, 2, 3}), cert + " holds a block that is no X.509 certificate");
        Files.write(certificate, new byte[] {(byte) 0xff, (byte) 0xfe});
        refused(cert + " is not PEM: it is not UTF-8 text");
        refused(
                pem("CERTIFICATE", SelfSigned.make().certificate()),
                "daemon TLS private key " + key + " does not belong to the first certificate of " + certificate);
        Files.delete(certificate);
        refused(cert + " does not exist");
        Files.createDirectory(certificate);
        refused(cert + " must be a regular file");
    }

    @Test
    void case46OneUnencryptedKeyIsWanted() throws Exception {
        String wanted =
                "daemon TLS private key " + key + " must contain exactly one unencrypted PKCS#8 PRIVATE KEY block";
        for (String text : List.of(
                "",
                pem("EC PRIVATE KEY", own.privateKey()),
                pem("ENCRYPTED PRIVATE KEY", own.privateKey()),
                pem("PRIVATE KEY", own.privateKey()) + pem("PRIVATE KEY", own.privateKey()))) {
            write("key.pem", text);
            refused(wanted);
        }
        write("key.pem", pem("PRIVATE KEY", new byte[] {1}));
        refused("daemon TLS private key " + key + " holds no key of the first certificate's kind, EC");
    }

    @Test
    void aWorkersRootVouchesForItsHostAlone() throws Exception {
        Set<String> roots = new HashSet<>();
        for (String host : List.of("192.0.2.7", "worker.example")) {
            ServerTls.OfWorker made = ServerTls.ofWorker(host);
            assertTrue(roots.add(made.rootCertificate()), "each worker has its own");
            assertTrue(roots.add(ServerTls.ofWorker(host).rootCertificate()), "so has the next one of the same host");
            X509Certificate leaf = (X509Certificate) made.listener().keyStore().getCertificate("listener");
            X509Certificate root = (X509Certificate) CertificateFactory.getInstance("X.509")
                    .generateCertificate(
                            new ByteArrayInputStream(Base64.getUrlDecoder().decode(made.rootCertificate())));
            leaf.verify(root.getPublicKey());
            root.verify(root.getPublicKey());
            assertEquals(-1, leaf.getBasicConstraints());
            assertTrue(root.getBasicConstraints() >= 0);
            assertTrue(root.getKeyUsage()[5], "signs certificates");
            assertEquals(List.of("1.3.6.1.5.5.7.3.1"), leaf.getExtendedKeyUsage());
            assertEquals(
                    host, leaf.getSubjectAlternativeNames().iterator().next().get(1));
            assertFalse(made.toString().contains("PRIVATE"));
        }
    }

    private Path write(String name, String text) throws Exception {
        return Files.writeString(folder.resolve(name), text);
    }

    private void refused(String certificateText, String message) throws Exception {
        Files.writeString(certificate, certificateText);
        refused(message);
    }

    private void refused(String message) {
        RelayException refused = assertThrows(RelayException.class, () -> ServerTls.read(certificate, key));
        assertEquals(message, refused.getMessage());
        assertEquals(FailureKind.CONFIGURATION, refused.kind());
    }

    private static String pem(String label, byte[] der) {
        return "-----BEGIN " + label + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + label + "-----\n";
    }
}
