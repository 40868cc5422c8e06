package org.nemorelay.identity;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import org.nemorelay.identity.internal.SelfSigned;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** Certificate and key of a listener. {@link #toString()} shows nothing of them. Immutable. */
public final class ServerTls {
    private static final int MAX_BYTES = 1 << 20;

    private final PrivateKey key;
    private final List<Certificate> chain;

    private ServerTls(PrivateKey key, List<Certificate> chain) {
        this.key = key;
        this.chain = chain;
    }

    /** A worker's listener and the only root that vouches for it, as base64url of its DER (relay-daemon 7). */
    public record OfWorker(ServerTls listener, String rootCertificate) {}

    /**
     * What an administrator's PEM files hold (relay-daemon 4.6): one or more certificates, the listener's own first, and
     * exactly one unencrypted PKCS#8 key. Links are followed: certificate managers publish by them.
     *
     * @throws RelayException CONFIGURATION, naming the file and what is wrong with it
     */
    public static ServerTls read(Path certificates, Path key) {
        List<Certificate> chain = new ArrayList<>();
        String certificateFile = "daemon TLS certificate " + certificates;
        try {
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            for (byte[] der : blocks(certificateFile, text(certificateFile, certificates), "CERTIFICATE")) {
                chain.add(factory.generateCertificate(new ByteArrayInputStream(der)));
            }
        } catch (CertificateException e) {
            throw wrong(certificateFile + " holds a block that is no X.509 certificate");
        }
        if (chain.isEmpty()) {
            throw wrong(certificateFile + " contains no CERTIFICATE blocks");
        }
        String keyFile = "daemon TLS private key " + key;
        List<byte[]> keys = blocks(keyFile, text(keyFile, key), "PRIVATE KEY");
        if (keys.size() != 1) {
            throw wrong(keyFile + " must contain exactly one unencrypted PKCS#8 PRIVATE KEY block");
        }
        PublicKey shown = chain.getFirst().getPublicKey();
        try {
            PrivateKey secret = KeyFactory.getInstance(shown.getAlgorithm())
                    .generatePrivate(new PKCS8EncodedKeySpec(keys.getFirst()));
            if (!belong(secret, shown)) {
                throw wrong(keyFile + " does not belong to the first certificate of " + certificates);
            }
            return new ServerTls(secret, List.copyOf(chain));
        } catch (InvalidKeySpecException e) {
            throw wrong(keyFile + " holds no key of the first certificate's kind, " + shown.getAlgorithm());
        } catch (GeneralSecurityException e) {
            throw wrong(keyFile + " cannot be used: " + e.getMessage());
        }
    }

    /** Whether every account of this machine can read the file: certificate managers give keys to a group at most. */
    public static boolean openToAll(Path key) {
        try {
            return Files.getPosixFilePermissions(key).contains(PosixFilePermission.OTHERS_READ);
        } catch (IOException e) {
            // Reading it will tell what is wrong.
            return false;
        }
    }

    /**
     * A fresh root and, vouched for by it, a certificate for a worker at this host; the root's key is forgotten. Takes
     * some milliseconds.
     *
     * @param host a DNS name or a dotted IPv4 address
     */
    public static OfWorker ofWorker(String host) {
        SelfSigned.Vouched made = SelfSigned.vouched(host);
        try {
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            PrivateKey key = KeyFactory.getInstance("EC")
                    .generatePrivate(new PKCS8EncodedKeySpec(made.leaf().privateKey()));
            Certificate leaf = factory.generateCertificate(
                    new ByteArrayInputStream(made.leaf().certificate()));
            return new OfWorker(
                    new ServerTls(key, List.of(leaf)),
                    Base64.getUrlEncoder().withoutPadding().encodeToString(made.root()));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException("a certificate made here is readable", e);
        }
    }

    /** Key and certificates under an empty password. */
    public KeyStore keyStore() {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("listener", key, new char[0], chain.toArray(Certificate[]::new));
            return store;
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("the Java runtime has no key store", e);
        }
    }

    /** A store that trusts one root alone; empty password. {@link FailureKind#INVALID_ARGUMENT} when it is no certificate. */
    public static KeyStore trustOnly(String rootCertificate) {
        try {
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setCertificateEntry(
                    "root",
                    CertificateFactory.getInstance("X.509")
                            .generateCertificate(new ByteArrayInputStream(
                                    Base64.getUrlDecoder().decode(rootCertificate))));
            return store;
        } catch (CertificateException | IllegalArgumentException e) {
            throw new RelayException(
                    FailureKind.INVALID_ARGUMENT, "the worker's TLS root is not base64url of a certificate", e);
        } catch (GeneralSecurityException | IOException e) {
            throw new IllegalStateException("the Java runtime has no key store", e);
        }
    }

    private static String text(String what, Path file) {
        try {
            if (!Files.isRegularFile(file)) {
                if (Files.exists(file)) {
                    throw wrong(what + " must be a regular file");
                }
                throw new NoSuchFileException(file.toString());
            }
            if (Files.size(file) > MAX_BYTES) {
                throw wrong(what + " is larger than " + MAX_BYTES + " bytes");
            }
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(Files.readAllBytes(file)))
                    .toString();
        } catch (NoSuchFileException e) {
            throw wrong(what + " does not exist");
        } catch (CharacterCodingException e) {
            throw wrong(what + " is not PEM: it is not UTF-8 text");
        } catch (IOException e) {
            throw wrong(what + " cannot be read by this account");
        }
    }

    /** What stands between the marks of this label; text around the blocks is skipped. */
    private static List<byte[]> blocks(String what, String text, String label) {
        String begin = "-----BEGIN " + label + "-----";
        String end = "-----END " + label + "-----";
        List<byte[]> found = new ArrayList<>();
        for (int at = text.indexOf(begin); at >= 0; at = text.indexOf(begin, at + 1)) {
            int close = text.indexOf(end, at);
            if (close < 0) {
                throw wrong(what + " has an unterminated " + label + " block");
            }
            String body = text.substring(at + begin.length(), close).replaceAll("\\s", "");
            try {
                found.add(Base64.getDecoder().decode(body));
            } catch (IllegalArgumentException e) {
                throw wrong(what + " contains invalid " + label + " base64");
            }
        }
        return found;
    }

    /** Whether what one signs the other accepts. */
    private static boolean belong(PrivateKey secret, PublicKey shown) throws GeneralSecurityException {
        String kind = shown.getAlgorithm().toUpperCase(Locale.ROOT);
        String algorithm = switch (kind) {
            case "RSA" -> "SHA256withRSA";
            case "EC" -> "SHA256withECDSA";
            default -> shown.getAlgorithm();
        };
        byte[] probe = kind.getBytes(StandardCharsets.US_ASCII);
        Signature signer = Signature.getInstance(algorithm);
        signer.initSign(secret);
        signer.update(probe);
        byte[] signature = signer.sign();
        Signature verifier = Signature.getInstance(algorithm);
        verifier.initVerify(shown);
        verifier.update(probe);
        return verifier.verify(signature);
    }

    private static RelayException wrong(String message) {
        return new RelayException(FailureKind.CONFIGURATION, message);
    }
}
