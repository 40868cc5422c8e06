package org.nemorelay.carrier.nats.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** An authority and what it issues, by the JDK's keytool, as PEM files. */
record Certificates(Path folder) {
    private static final String PASSWORD = "changeit";

    record Pair(Path certificate, Path key) {}

    static Certificates in(Path folder) {
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        Certificates certificates = new Certificates(folder);
        certificates.keytool(
                "-genkeypair", "-alias", "ca", "-dname", "CN=test authority", "-ext", "bc:c", "-keyalg", "EC");
        certificates.export("ca");
        return certificates;
    }

    Path ca() {
        return folder.resolve("ca.pem");
    }

    /** As {@link #issue}, once for each alias. */
    Pair issued(String alias, String name) {
        Pair pair = new Pair(folder.resolve(alias + ".pem"), folder.resolve(alias + ".key"));
        return Files.exists(pair.key()) ? pair : issue(alias, name);
    }

    Pair issue(String alias, String name) {
        keytool(
                "-genkeypair",
                "-alias",
                alias,
                "-dname",
                "CN=" + alias,
                "-keyalg",
                "EC",
                "-signer",
                "ca",
                "-ext",
                "san=" + name);
        export(alias);
        return new Pair(folder.resolve(alias + ".pem"), folder.resolve(alias + ".key"));
    }

    private Path store() {
        return folder.resolve("store.p12");
    }

    private void keytool(String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString()));
        command.addAll(List.of(arguments));
        command.addAll(
                List.of("-keystore", store().toString(), "-storepass", PASSWORD, "-storetype", "PKCS12", "-noprompt"));
        try {
            if (arguments[2].equals("client") && Files.exists(store())) {
                delete("client");
            }
            Process process =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String output = new String(process.getInputStream().readAllBytes());
            if (process.waitFor() != 0) {
                throw new IllegalStateException(output);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private KeyStore load() throws GeneralSecurityException, IOException {
        return KeyStore.getInstance(store().toFile(), PASSWORD.toCharArray());
    }

    private void delete(String alias) throws IOException {
        try (var out = new java.io.ByteArrayOutputStream()) {
            KeyStore keys = load();
            keys.deleteEntry(alias);
            keys.store(out, PASSWORD.toCharArray());
            Files.write(store(), out.toByteArray());
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        }
    }

    private void export(String alias) {
        try {
            KeyStore keys = load();
            Files.writeString(
                    folder.resolve(alias + ".pem"),
                    pem("CERTIFICATE", keys.getCertificate(alias).getEncoded()));
            Files.writeString(
                    folder.resolve(alias + ".key"),
                    pem(
                            "PRIVATE KEY",
                            keys.getKey(alias, PASSWORD.toCharArray()).getEncoded()));
        } catch (GeneralSecurityException e) {
            throw new IllegalStateException(e);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String pem(String what, byte[] encoded) {
        return "-----BEGIN " + what + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(encoded) + "\n-----END " + what
                + "-----\n";
    }
}
