package org.nemorelay.identity;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.Octets;

class PinsTest {
    @TempDir
    Path temp;

    @Test
    void case105TrustedOnFirstUseAndNeverOverwritten() throws IOException {
        Pins pins = StateFolder.at(temp).pins();
        DaemonUrl daemon = DaemonUrl.parse("http://127.0.0.1:40541");
        Octets first = key(1);
        pins.check(daemon, first);
        pins.check(daemon, first);
        Path file =
                temp.resolve("daemon/pins/d9f4b0ca9143e3c6f6522e128c48d8871b7a215dc9ac83a9785a70a2a4ed6bab.ed25519");
        assertArrayEquals(first.bytes(), Files.readAllBytes(file));
        assertEquals("rw-------", Folders.mode(file));

        RelayException failure = assertThrows(RelayException.class, () -> pins.check(daemon, key(2)));
        assertEquals(FailureKind.CONFIGURATION, failure.kind());
        assertArrayEquals(first.bytes(), Files.readAllBytes(file));

        pins.check(DaemonUrl.parse("http://127.0.0.1:40542"), key(2));
    }

    @Test
    void aDamagedPinIsNoTrust() throws IOException {
        Pins pins = StateFolder.at(temp).pins();
        DaemonUrl daemon = DaemonUrl.parse("http://127.0.0.1:40541");
        pins.check(daemon, key(1));
        Path file =
                temp.resolve("daemon/pins/d9f4b0ca9143e3c6f6522e128c48d8871b7a215dc9ac83a9785a70a2a4ed6bab.ed25519");
        Files.write(file, new byte[0]);
        assertThrows(RelayException.class, () -> pins.check(daemon, key(1)));
        Files.delete(file);
        Files.createSymbolicLink(file, temp.resolve("x"));
        assertEquals(
                FailureKind.STATE,
                assertThrows(RelayException.class, () -> pins.check(daemon, key(1)))
                        .kind());
    }

    private static Octets key(int value) {
        byte[] bytes = new byte[32];
        Arrays.fill(bytes, (byte) value);
        return Octets.of(bytes);
    }
}
