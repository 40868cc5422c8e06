package org.nemorelay.launcher.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FrameworkStorageTest {
    @TempDir
    Path temporary;

    @Test
    void isPrivateAndGoneAfterClose() throws Exception {
        Path folder;
        try (FrameworkStorage storage = FrameworkStorage.open(temporary)) {
            folder = storage.folder();
            assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(folder)));
            Files.createDirectories(folder.resolve("bundle1/data"));
            Files.writeString(folder.resolve("bundle1/data/file"), "x");
        }
        assertFalse(Files.exists(folder));
    }

    @Test
    void removesWhatADeadProcessLeftAndNothingElse() throws Exception {
        Process dead = new ProcessBuilder("true").start();
        dead.waitFor();
        Path stale = Files.createDirectories(temporary.resolve("nemo-relay-framework-" + dead.pid() + "-1/bundle1"));
        Path outside = Files.writeString(temporary.resolve("outside"), "x");
        Files.createSymbolicLink(stale.resolve("link"), outside);
        Path alive = Files.createDirectories(temporary.resolve(
                "nemo-relay-framework-" + ProcessHandle.current().pid() + "-2"));
        Path foreign = Files.createDirectories(temporary.resolve("nemo-relay-framework-x"));
        FrameworkStorage.open(temporary).close();
        assertFalse(Files.exists(stale.getParent()));
        assertTrue(Files.exists(outside));
        assertTrue(Files.exists(alive));
        assertTrue(Files.exists(foreign));
    }
}
