package org.nemorelay.identity;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/**
 * The authorities that may vouch for a provider or a daemon: the operating system's, or instead of them those that
 * {@code SSL_CERT_FILE} (one file) and {@code SSL_CERT_DIR} (folders, separated by colons) name. Java's own are used only
 * where the system has none. Stateless.
 */
public final class TrustedAuthorities {
    private static final String FILE = "SSL_CERT_FILE";
    private static final String FOLDERS = "SSL_CERT_DIR";

    private static final List<Path> SYSTEM_FILES = List.of(
            Path.of("/etc/ssl/certs/ca-certificates.crt"), // Debian, Arch, Alpine
            Path.of("/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem"), // Red Hat
            Path.of("/etc/pki/tls/certs/ca-bundle.crt"), // Fedora and older Red Hat
            Path.of("/etc/ssl/ca-bundle.pem"), // SUSE
            Path.of("/etc/pki/tls/cacert.pem"),
            Path.of("/etc/ssl/cert.pem"), // Alpine, BSD, macOS
            Path.of("/usr/local/etc/ssl/cert.pem"));
    private static final List<Path> SYSTEM_FOLDERS = List.of(Path.of("/etc/ssl/certs"), Path.of("/etc/pki/tls/certs"));

    private static final String BEGIN = "-----BEGIN CERTIFICATE-----";
    private static final String END = "-----END CERTIFICATE-----";

    private TrustedAuthorities() {}

    /**
     * Reads them; takes some 100 ms.
     *
     * @return empty where Java's own authorities are to be used
     * @throws RelayException CONFIGURATION when the variables name nothing that can be trusted
     */
    public static Optional<KeyStore> read(Map<String, String> environment) {
        String file = environment.getOrDefault(FILE, "");
        String folders = environment.getOrDefault(FOLDERS, "");
        if (file.isEmpty() && folders.isEmpty()) {
            Set<Certificate> found = ofSystem();
            return found.isEmpty() ? Optional.empty() : Optional.of(store(found));
        }
        return Optional.of(store(named(file, folders)));
    }

    private static Set<Certificate> ofSystem() {
        Set<Certificate> found = new LinkedHashSet<>();
        for (Path file : SYSTEM_FILES) {
            try {
                found.addAll(certificates(file));
            } catch (IOException e) {
                // Another system's place.
            }
            if (!found.isEmpty()) {
                return found;
            }
        }
        for (Path folder : SYSTEM_FOLDERS) {
            try {
                addFolder(folder, found);
            } catch (IOException e) {
                // Another system's place.
            }
        }
        return found;
    }

    private static Set<Certificate> named(String file, String folders) {
        Set<Certificate> found = new LinkedHashSet<>();
        String problem = "";
        if (!file.isEmpty()) {
            try {
                found.addAll(certificates(Path.of(file)));
            } catch (IOException e) {
                problem = FILE + "=" + file + ": " + reason(e);
            }
        }
        for (String folder : folders.split(":")) {
            if (!folder.isEmpty()) {
                try {
                    addFolder(Path.of(folder), found);
                } catch (IOException e) {
                    problem = FOLDERS + "=" + folder + ": " + reason(e);
                }
            }
        }
        if (found.isEmpty()) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    problem.isEmpty()
                            ? (file.isEmpty() ? FOLDERS + "=" + folders : FILE + "=" + file) + " holds no certificate"
                            : problem);
        }
        return found;
    }

    private static String reason(IOException e) {
        return e instanceof NoSuchFileException ? "does not exist" : "cannot be read";
    }

    /** Every file counts, whatever its name: OpenSSL's hashed names only spare it the reading of the others. */
    private static void addFolder(Path folder, Set<Certificate> found) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder)) {
            for (Path file : files) {
                if (Files.isRegularFile(file)) {
                    try {
                        found.addAll(certificates(file));
                    } catch (IOException e) {
                        // One file that is out of reach does not take the others away.
                    }
                }
            }
        }
    }

    /** The certificates of a PEM file; a damaged one does not take the others away. */
    private static Collection<Certificate> certificates(Path file) throws IOException {
        String text = Files.readString(file, StandardCharsets.ISO_8859_1);
        Set<Certificate> found = new LinkedHashSet<>();
        try {
            CertificateFactory factory = CertificateFactory.getInstance("X.509");
            for (int begin = text.indexOf(BEGIN); begin >= 0; begin = text.indexOf(BEGIN, begin + 1)) {
                int end = text.indexOf(END, begin);
                if (end < 0) {
                    return found;
                }
                try {
                    byte[] der = Base64.getMimeDecoder().decode(text.substring(begin + BEGIN.length(), end));
                    found.add(factory.generateCertificate(new ByteArrayInputStream(der)));
                } catch (CertificateException | IllegalArgumentException e) {
                    continue;
                }
            }
        } catch (CertificateException e) {
            throw new IllegalStateException("the Java runtime has no X.509", e);
        }
        return found;
    }

    private static KeyStore store(Set<Certificate> certificates) {
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            int number = 0;
            for (Certificate certificate : certificates) {
                store.setCertificateEntry(Integer.toString(number++), certificate);
            }
            return store;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException("the Java runtime has no key store", e);
        }
    }
}
