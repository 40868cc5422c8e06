package org.nemorelay.identity;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.Octets;

/** Daemon keys trusted on first use, one per canonical origin, never overwritten (relay-daemon 4.4). */
@SuppressWarnings("try") // the lock is held, not used
public final class Pins {
    private static final int MAX_BYTES = 4096;

    private final PrivateFiles files;
    private final Path folder;

    Pins(PrivateFiles files, Path folder) {
        this.files = files;
        this.folder = folder;
    }

    /**
     * Trusts the key when the origin has none yet; {@link FailureKind#CONFIGURATION} when it has another one
     * (only an administrator can tell which key is right), {@link FailureKind#STATE} when the pin cannot be read or written.
     */
    public void check(DaemonUrl daemon, Octets publicKey) {
        String name =
                Digest.sha256(daemon.origin().getBytes(StandardCharsets.UTF_8)).hex() + ".ed25519";
        Path file = folder.resolve(name);
        files.folder(folder.getParent());
        files.folder(folder);
        Optional<byte[]> pinned = files.read(file, MAX_BYTES);
        if (pinned.isEmpty()) {
            try (PrivateFiles.Lock lock = files.lock(file)) {
                pinned = files.read(file, MAX_BYTES);
                if (pinned.isEmpty()) {
                    files.write(file, publicKey.bytes());
                    return;
                }
            }
        }
        if (!Arrays.equals(pinned.get(), publicKey.bytes())) {
            throw new RelayException(
                    FailureKind.CONFIGURATION,
                    "the daemon at " + daemon.origin() + " has another key than the one trusted before; if it was"
                            + " replaced on purpose, remove " + file);
        }
    }
}
