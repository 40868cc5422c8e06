package org.nemorelay.identity;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.nemorelay.identity.internal.FileStatus;
import org.nemorelay.protocol.RelayException;

/**
 * The certificates under which a hook trusts a daemon: that of a daemon of the same user, and the one an administrator
 * published for a daemon under another account (relay-daemon 0.1). Each is trusted by itself.
 */
public final class HookCertificates {
    private static final Path SYSTEM = Path.of("/etc/nemo-relay");
    private static final String PUBLISHED = "hook-tls-certificate.pem";
    private static final int MAX_BYTES = 64 << 10;
    private static final int ROOT = 0;
    private static final String BEGIN = "-----BEGIN CERTIFICATE-----";
    private static final String END = "-----END CERTIFICATE-----";

    private final List<byte[]> trusted = new ArrayList<>();
    private final List<Path> looked = new ArrayList<>();

    private HookCertificates() {}

    /**
     * Reads the user's folders and the system folder.
     *
     * @param home the installed tree, whose own {@code etc} replaces the system folder; empty where it is unknown
     * @throws RelayException STATE when a file is there that must not or cannot be used
     */
    public static HookCertificates read(Map<String, String> environment, Optional<Path> home) {
        HookCertificates certificates = new HookCertificates();
        for (StateFolder folder : StateFolder.candidates(environment)) {
            certificates.looked.add(folder.hookTlsFile());
            folder.existingHookTlsIdentity().ifPresent(identity -> certificates.trusted.add(identity.certificate()));
        }
        certificates.published(home);
        return certificates;
    }

    public boolean isEmpty() {
        return trusted.isEmpty();
    }

    /** Whether this is one of them, byte by byte. */
    public boolean trusts(byte[] certificate) {
        for (byte[] one : trusted) {
            if (Arrays.equals(one, certificate)) {
                return true;
            }
        }
        return false;
    }

    /** Where they were looked for. */
    public List<Path> looked() {
        return List.copyOf(looked);
    }

    private void published(Optional<Path> home) {
        try {
            Optional<Path> own = home.map(tree -> tree.resolve("etc"));
            boolean replaced = own.isPresent() && FileStatus.of(own.get()).isPresent();
            Path folder = replaced ? own.get() : SYSTEM;
            int owner = replaced ? FileStatus.of(home.get()).orElseThrow().uid() : ROOT;
            Path file = folder.resolve(PUBLISHED);
            looked.add(file);
            Optional<FileStatus> status = FileStatus.of(file);
            if (status.isEmpty()) {
                return;
            }
            administrators(folder, FileStatus.of(folder).orElseThrow(), owner, true);
            administrators(file, status.get(), owner, false);
            try (FileChannel channel = FileChannel.open(file, PrivateFiles.options(StandardOpenOption.READ))) {
                trusted.add(decode(file, PrivateFiles.readAll(file, channel, MAX_BYTES)));
            }
        } catch (IOException e) {
            throw PrivateFiles.failed(looked.getLast(), "cannot be read", e);
        }
    }

    private static void administrators(Path path, FileStatus status, int owner, boolean folder) {
        if (folder ? !status.directory() : !status.regular()) {
            throw PrivateFiles.failed(path, "must be a " + (folder ? "folder" : "regular file") + " and no link");
        }
        if (status.uid() != owner) {
            throw PrivateFiles.failed(path, "must belong to uid " + owner + ", not to uid " + status.uid());
        }
        if (status.writableByOthers()) {
            throw PrivateFiles.failed(path, "must not be writable by group or others: chmod go-w " + path);
        }
    }

    private static byte[] decode(Path file, byte[] content) {
        String text = new String(content, StandardCharsets.US_ASCII).strip();
        if (text.startsWith(BEGIN) && text.endsWith(END) && text.indexOf(BEGIN, 1) < 0) {
            try {
                return Base64.getMimeDecoder().decode(text.substring(BEGIN.length(), text.length() - END.length()));
            } catch (IllegalArgumentException e) {
                // as below
            }
        }
        throw PrivateFiles.failed(
                file, "must hold one PEM certificate, as `nemo-relay daemon tls-certificate` prints it");
    }
}
