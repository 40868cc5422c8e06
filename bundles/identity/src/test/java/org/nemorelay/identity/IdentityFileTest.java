package org.nemorelay.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.protocol.control.Octets;
import org.nemorelay.protocol.control.Signatures;
import org.nemorelay.protocol.control.SigningKey;

/** Keys on disk: made once, kept, repaired where only the mode is wrong, refused otherwise. */
class IdentityFileTest {
    /** {@code machine-identity.pk8} of the recorded session. */
    private static final String RECORDED =
            "MFECAQEwBQYDK2VwBCIEIIxamsaNTAJ1taD8ZXHYyHVG8vXDR9P1p6ohEDap9xq+gSEAbvdUWxmggPsdIcod8rs+3E8u72/3lVPIhIXpLgtU3Zw=";

    @TempDir
    Path temp;

    private Path file() {
        return temp.resolve("nemo-relay/daemon/machine-identity.pk8");
    }

    private SigningKey load() {
        return StateFolder.at(temp.resolve("nemo-relay")).machineIdentity();
    }

    @Test
    void madeOnceAndKept() throws IOException {
        SigningKey first = load();
        assertEquals(first.publicKey(), load().publicKey());
        assertEquals(83, Files.size(file()));
        assertEquals("rw-------", Folders.mode(file()));
        assertEquals("rwx------", Folders.mode(file().getParent()));
        byte[] message = {1, 2, 3};
        assertTrue(Signatures.verify(first.publicKey(), message, first.sign(message)));
        try (Stream<Path> left = Files.list(file().getParent())) {
            assertEquals(
                    Set.of("machine-identity.pk8", "machine-identity.lock"),
                    left.map(path -> path.getFileName().toString()).collect(java.util.stream.Collectors.toSet()));
        }
    }

    @Test
    void readsTheFileOfTheStockBinary() throws IOException {
        put(Base64.getDecoder().decode(RECORDED));
        SigningKey key = load();
        assertEquals(
                "7b16eccfa8cffd5e25847985bd3213bd491ae36b945f1cc44a4e79a92afb7077",
                key.fingerprint().hex());
        byte[] message = {9};
        assertTrue(Signatures.verify(key.publicKey(), message, key.sign(message)));
    }

    @Test
    void readsTheLongerVariant() throws IOException {
        byte[] recorded = Base64.getDecoder().decode(RECORDED);
        String hex = HexFormat.of().formatHex(recorded);
        put(HexFormat.of().parseHex("3053" + hex.substring(4, 96) + "a123032100" + hex.substring(102)));
        assertEquals(Octets.of(java.util.Arrays.copyOfRange(recorded, 51, 83)), load().publicKey());
    }

    @Test
    void refusesWhatIsNoKey() throws IOException {
        byte[] recorded = Base64.getDecoder().decode(RECORDED);
        byte[] wrongPublic = recorded.clone();
        wrongPublic[82] ^= 1;
        byte[] tail = java.util.Arrays.copyOf(recorded, 84);
        for (byte[] bad : List.of(
                new byte[0],
                "junk".getBytes(),
                wrongPublic,
                tail,
                java.util.Arrays.copyOf(recorded, 82),
                new byte[5000])) {
            put(bad);
            assertTrue(Folders.failure(this::load).contains("machine-identity.pk8"));
            assertEquals(bad.length, Files.size(file()));
        }
    }

    @Test
    void case103RepairsModes() throws IOException {
        SigningKey key = load();
        Folders.mode(file(), "rw-r--r--");
        Folders.mode(file().getParent(), "rwxr-xr-x");
        assertEquals(key.publicKey(), load().publicKey());
        assertEquals("rw-------", Folders.mode(file()));
        assertEquals("rwx------", Folders.mode(file().getParent()));
    }

    @Test
    void tellsOnceThatAKeyWasOpenToOthers() throws IOException {
        List<String> notices = new ArrayList<>();
        StateFolder folder = StateFolder.at(temp).telling(notices::add);
        folder.daemonIdentity();
        folder.hookTlsIdentity();
        folder.generations(0);
        assertEquals(List.of(), notices);
        Path key = temp.resolve("daemon/daemon-identity.pk8");
        Path hooks = temp.resolve("bootstrap/hook-tls-identity.json");
        for (Path file : List.of(key, hooks)) {
            Folders.mode(file, "rw-r--r--");
        }
        folder.daemonIdentity();
        folder.hookTlsIdentity();
        folder.daemonIdentity();
        assertEquals(2, notices.size(), notices::toString);
        assertTrue(notices.getFirst().startsWith(key + " was open to other accounts until now (mode 644)"));
        assertTrue(notices.getLast().startsWith(hooks + " was open"), notices::toString);
        assertEquals("rw-------", Folders.mode(hooks));
    }

    @Test
    void case103RefusesLinksAndForeignThings() throws IOException {
        load();
        Path elsewhere = temp.resolve("elsewhere");
        Files.move(file(), elsewhere);
        Files.createSymbolicLink(file(), elsewhere);
        assertTrue(Folders.failure(this::load).contains("link"));

        Files.delete(file());
        Files.createDirectory(file());
        assertTrue(Folders.failure(this::load).contains("regular"));

        Files.delete(file());
        Path lock = file().resolveSibling("machine-identity.lock");
        Files.delete(lock);
        Files.createSymbolicLink(lock, temp.resolve("other.lock"));
        assertTrue(Folders.failure(this::load).contains("link"));
        assertFalse(Files.exists(temp.resolve("other.lock")));

        Path daemon = file().getParent();
        Path moved = temp.resolve("moved");
        Files.move(daemon, moved);
        Files.createSymbolicLink(daemon, moved);
        assertTrue(Folders.failure(this::load).contains("link"));
    }

    @Test
    void refusesForeignOwners() throws IOException {
        assumeTrue(Folders.root(), "only root can give files away");
        load();
        Folders.owner(file(), 12345);
        assertTrue(Folders.failure(this::load).contains("12345"));
        Folders.owner(file(), 0);
        Folders.owner(file().getParent(), 12345);
        assertTrue(Folders.failure(this::load).contains("12345"));
    }

    @Test
    void processesThatRaceAgreeOnOneKey() throws Exception {
        Set<Octets> keys = ConcurrentHashMap.newKeySet();
        List<Thread> threads = Stream.generate(() -> Thread.ofPlatform().start(() -> keys.add(load().publicKey())))
                .limit(4)
                .toList();
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(1, keys.size());
    }

    private void put(byte[] content) throws IOException {
        Files.createDirectories(file().getParent());
        Files.write(file(), content);
    }
}
