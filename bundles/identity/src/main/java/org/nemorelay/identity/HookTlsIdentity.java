package org.nemorelay.identity;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Optional;
import org.nemorelay.identity.internal.SelfSigned;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.json.JsonObject;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/**
 * Certificate and key under which a daemon serves hooks over TLS on loopback; hooks know the certificate byte by byte
 * (relay-daemon 0.1). The file is shared with other implementations. {@link #toString()} shows nothing of it.
 */
@SuppressWarnings("try") // the lock is held, not used
public final class HookTlsIdentity {
    private static final int MAX_BYTES = 64 << 10;
    private static final String CERTIFICATE = "certificate_der";
    private static final String PRIVATE_KEY = "private_key_der";

    private final Path file;
    private final byte[] certificate;
    private final byte[] privateKey;

    private HookTlsIdentity(Path file, byte[] certificate, byte[] privateKey) {
        this.file = file;
        this.certificate = certificate;
        this.privateKey = privateKey;
    }

    /** What the file holds, or nothing when there is none. */
    static Optional<HookTlsIdentity> load(PrivateFiles files, Path file) {
        return files.read(file, MAX_BYTES).map(content -> decode(file, content));
    }

    /** What the file holds, made first when there is none: takes some 100 ms then. */
    static HookTlsIdentity loadOrCreate(PrivateFiles files, Path file) {
        files.folder(file.getParent());
        Optional<HookTlsIdentity> present = load(files, file);
        if (present.isPresent()) {
            return present.get();
        }
        try (PrivateFiles.Lock lock = files.lock(file)) {
            Optional<HookTlsIdentity> meanwhile = load(files, file);
            if (meanwhile.isPresent()) {
                return meanwhile.get();
            }
            SelfSigned made = SelfSigned.make();
            files.write(
                    file,
                    ("{\"" + CERTIFICATE + "\":" + numbers(made.certificate()) + ",\"" + PRIVATE_KEY + "\":"
                                    + numbers(made.privateKey()) + "}")
                            .getBytes(StandardCharsets.US_ASCII));
            return new HookTlsIdentity(file, made.certificate(), made.privateKey());
        }
    }

    /** The certificate in DER. */
    public byte[] certificate() {
        return certificate.clone();
    }

    /** The certificate as one PEM block with a line end. */
    public String pem() {
        return "-----BEGIN CERTIFICATE-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(certificate)
                + "\n-----END CERTIFICATE-----\n";
    }

    /** Key and certificate in memory, under an empty password; {@link FailureKind#STATE} when they are not what they should be. */
    public KeyStore keyStore() {
        try {
            Certificate parsed =
                    CertificateFactory.getInstance("X.509").generateCertificate(new ByteArrayInputStream(certificate));
            PrivateKey key = KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(privateKey));
            KeyStore store = KeyStore.getInstance("PKCS12");
            store.load(null, null);
            store.setKeyEntry("hook", key, new char[0], new Certificate[] {parsed});
            return store;
        } catch (GeneralSecurityException | IOException e) {
            throw invalid(file, e);
        }
    }

    private static HookTlsIdentity decode(Path file, byte[] content) {
        try {
            JsonObject json = Json.parseObject(content).only(CERTIFICATE, PRIVATE_KEY);
            return new HookTlsIdentity(file, json.bytes(CERTIFICATE), json.bytes(PRIVATE_KEY));
        } catch (JsonException e) {
            throw invalid(file, e);
        }
    }

    private static RelayException invalid(Path file, Exception cause) {
        return PrivateFiles.failed(
                file,
                "does not hold a hook TLS identity; move it away to have a new one made, and publish that again where it"
                        + " was published",
                cause);
    }

    private static StringBuilder numbers(byte[] bytes) {
        StringBuilder out = new StringBuilder(bytes.length * 4 + 2);
        for (byte b : bytes) {
            out.append(out.isEmpty() ? '[' : ',').append(b & 0xff);
        }
        return out.append(']');
    }
}
