package org.nemorelay.identity;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

class HookTlsIdentityTest {
    @TempDir
    Path temp;

    private Path file() {
        return temp.resolve("nemo-relay/bootstrap/hook-tls-identity.json");
    }

    private HookTlsIdentity identity() {
        return StateFolder.at(temp.resolve("nemo-relay")).hookTlsIdentity();
    }

    @Test
    void aNewOneIsASelfSignedP256CertificateForLocalhostWithItsKey() throws Exception {
        HookTlsIdentity made = identity();
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file())));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file().getParent())));
        String text = Files.readString(file());
        assertTrue(text.matches("\\{\"certificate_der\":\\[48(,\\d+)+],\"private_key_der\":\\[48(,\\d+)+]}"), text);
        JsonObject json = Json.parseObject(text);
        assertArrayEquals(made.certificate(), json.bytes("certificate_der"));

        X509Certificate certificate = (X509Certificate) CertificateFactory.getInstance("X.509")
                .generateCertificate(new ByteArrayInputStream(made.certificate()));
        certificate.verify(certificate.getPublicKey());
        certificate.checkValidity();
        assertEquals(3, certificate.getVersion());
        assertEquals(
                256,
                ((ECPublicKey) certificate.getPublicKey())
                        .getParams()
                        .getOrder()
                        .bitLength());
        assertEquals(List.of(List.of(2, "localhost")), List.copyOf(certificate.getSubjectAlternativeNames()));

        byte[] key = json.bytes("private_key_der");
        byte[] point = certificate.getPublicKey().getEncoded();
        assertArrayEquals(
                java.util.Arrays.copyOfRange(point, point.length - 65, point.length),
                java.util.Arrays.copyOfRange(key, key.length - 65, key.length));
        Signature signature = Signature.getInstance("SHA256withECDSA");
        signature.initSign(KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(key)));
        byte[] signed = signature.sign();
        signature.initVerify(certificate);
        assertTrue(signature.verify(signed));
        assertEquals(certificate, made.keyStore().getCertificate("hook"));
    }

    @Test
    void itIsMadeOnceAndReadBack() {
        assertArrayEquals(identity().certificate(), identity().certificate());
        assertFalse(identity().toString().contains("48"));
    }

    @Test
    void theFileOfAnotherImplementationIsRead() throws IOException {
        byte[] certificate = identity().certificate();
        String text = Files.readString(file());
        Files.writeString(file(), text.replace(",", ", ") + "\n");
        assertArrayEquals(certificate, identity().certificate());
    }

    @Test
    void aBrokenFileIsNamedAndLeftAlone() throws IOException {
        Files.createDirectories(file().getParent());
        for (String content :
                List.of("", "{", "{\"certificate_der\":[1]}", "{\"certificate_der\":[256],\"private_key_der\":[]}")) {
            Files.writeString(file(), content);
            String message = Folders.failure(this::identity);
            assertTrue(message.startsWith(file() + " does not hold a hook TLS identity"), message);
            assertEquals(content, Files.readString(file()));
        }
        Files.writeString(file(), "{\"certificate_der\":[1],\"private_key_der\":[2]}");
        assertTrue(Folders.failure(() -> identity().keyStore()).contains("does not hold a hook TLS identity"));
    }

    @Test
    void pemIsOneBlock() throws Exception {
        String pem = identity().pem();
        assertTrue(
                pem.startsWith("-----BEGIN CERTIFICATE-----\nMII") && pem.endsWith("\n-----END CERTIFICATE-----\n"),
                pem);
        assertTrue(pem.lines().allMatch(line -> line.length() <= 64), pem);
        assertEquals(
                pem,
                HookCertificates.read(published(pem, "rw-r--r--"), Optional.of(temp.resolve("tree")))
                                .trusts(identity().certificate())
                        ? pem
                        : "not trusted");
    }

    /** An installed tree with its own system folder, and an environment without any other certificate. */
    private Map<String, String> published(String pem, String mode) throws IOException {
        Path etc = Files.createDirectories(temp.resolve("tree/etc"));
        Path file = etc.resolve("hook-tls-certificate.pem");
        Files.writeString(file, pem);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString(mode));
        return Map.of("HOME", temp.resolve("nobody").toString());
    }

    @Test
    void aPublishedCertificateMustBeTheAdministratorsAlone() throws IOException {
        Optional<Path> tree = Optional.of(temp.resolve("tree"));
        Map<String, String> open = published(identity().pem(), "rw-rw-r--");
        assertTrue(Folders.failure(() -> HookCertificates.read(open, tree)).contains("must not be writable"));
        Map<String, String> two = published(identity().pem() + identity().pem(), "rw-r--r--");
        assertTrue(Folders.failure(() -> HookCertificates.read(two, tree)).contains("must hold one PEM certificate"));
        Path file = temp.resolve("tree/etc/hook-tls-certificate.pem");
        Files.delete(file);
        HookCertificates none = HookCertificates.read(two, tree);
        assertTrue(none.isEmpty());
        assertEquals(
                List.of(temp.resolve("nobody/.config/nemo-relay/bootstrap/hook-tls-identity.json"), file),
                none.looked());
        Files.createSymbolicLink(file, file());
        assertTrue(Folders.failure(() -> HookCertificates.read(two, tree)).contains("no link"));
    }

    @Test
    void theUsersOwnDaemonIsKnownFromEitherFolder() throws IOException {
        byte[] xdg =
                StateFolder.at(temp.resolve("xdg/nemo-relay")).hookTlsIdentity().certificate();
        byte[] home = StateFolder.at(temp.resolve("home/.config/nemo-relay"))
                .hookTlsIdentity()
                .certificate();
        HookCertificates both = HookCertificates.read(
                Map.of(
                        "XDG_CONFIG_HOME",
                        temp.resolve("xdg").toString(),
                        "HOME",
                        temp.resolve("home").toString()),
                Optional.of(temp));
        assertTrue(both.trusts(xdg) && both.trusts(home));
        assertFalse(both.trusts(identity().certificate()));
    }
}
