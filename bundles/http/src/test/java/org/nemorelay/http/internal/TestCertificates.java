package org.nemorelay.http.internal;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;

/** An authority and what it vouches for, made for one run. */
final class TestCertificates {
    private static final String PASSWORD = "secret";

    private final Path folder;
    private final Path store;

    TestCertificates(Path folder) {
        this.folder = folder;
        store = folder.resolve("store.p12");
        make("authority", "-dname", "CN=Test Authority", "-ext", "bc:c");
    }

    /** A certificate of the authority. */
    void issue(String alias, String subject, String... more) {
        List<String> options = new ArrayList<>(List.of("-dname", "CN=x", "-ext", "san=" + subject));
        options.addAll(List.of("-signer", "authority"));
        options.addAll(List.of(more));
        make(alias, options.toArray(String[]::new));
    }

    void selfSigned(String alias, String... more) {
        List<String> options = new ArrayList<>(List.of("-dname", "CN=x", "-ext", "san=dns:localhost"));
        options.addAll(List.of(more));
        make(alias, options.toArray(String[]::new));
    }

    private void make(String alias, String... options) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-J-XX:TieredStopAtLevel=1",
                "-genkeypair",
                "-keyalg",
                "EC",
                "-alias",
                alias,
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD));
        command.addAll(List.of(options));
        try {
            Process keytool =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(keytool.getInputStream().readAllBytes());
            if (keytool.waitFor() != 0) {
                throw new IllegalStateException(output);
            }
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The certificate as a PEM file. */
    Path pem(String alias) {
        try {
            String text = "# " + alias + "\n-----BEGIN CERTIFICATE-----\n"
                    + Base64.getMimeEncoder()
                            .encodeToString(keyStore().getCertificate(alias).getEncoded())
                    + "\n-----END CERTIFICATE-----\n";
            return Files.writeString(folder.resolve(alias + ".pem"), text);
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    /** An environment in which the authority alone is trusted. */
    Map<String, String> trusting(String alias) {
        return Map.of("SSL_CERT_FILE", pem(alias).toString());
    }

    /** A server's side that shows this certificate. */
    SSLContext server(String alias) {
        try {
            KeyStore all = keyStore();
            KeyStore one = KeyStore.getInstance("PKCS12");
            one.load(null, null);
            one.setKeyEntry(
                    alias,
                    all.getKey(alias, PASSWORD.toCharArray()),
                    PASSWORD.toCharArray(),
                    all.getCertificateChain(alias));
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(one, PASSWORD.toCharArray());
            SSLContext context = SSLContext.getInstance("TLS");
            context.init(keys.getKeyManagers(), null, null);
            return context;
        } catch (IOException | GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private KeyStore keyStore() throws IOException, GeneralSecurityException {
        return KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
    }
}
