package org.nemorelay.config.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.protocol.RelayException;

/** What may lie in the place of a configuration file. */
@Timeout(30)
class TomlFileTest {
    @TempDir
    Path folder;

    /** Its reader would wait for a writer for ever. */
    @Test
    void aPipeIsRefused() throws Exception {
        Path pipe = folder.resolve("plugins.toml");
        assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
        assertEquals(pipe + " is a pipe or a device, put a file in its place", refusal(pipe));
    }

    @Test
    void aDeviceIsRefused() {
        assertEquals("/dev/zero is a pipe or a device, put a file in its place", refusal(Path.of("/dev/zero")));
    }

    @Test
    void theNullDeviceIsAnEmptyFile() {
        assertTrue(TomlFile.read(Path.of("/dev/null")).orElseThrow().entries().isEmpty());
    }

    @Test
    void aFolderIsRefusedAndWhatIsNotThereIsEmpty() {
        assertEquals(folder + " cannot be read: Is a directory", refusal(folder));
        assertEquals(Optional.empty(), TomlFile.read(folder.resolve("nothing")));
    }

    /** Some editors begin a file with it. */
    @Test
    void aByteOrderMarkIsNoText() throws Exception {
        Path file = Files.writeString(folder.resolve("a.toml"), "\ufeffa = 1\n[b]\n");
        TomlValue.Table table = TomlFile.read(file).orElseThrow();
        assertEquals("[a, b]", table.entries().keySet().toString());
        Files.writeString(file, "a = 1\n\ufeffb = 2\n");
        assertThrows(RelayException.class, () -> TomlFile.read(file));
    }

    private static String refusal(Path file) {
        return assertThrows(RelayException.class, () -> TomlFile.read(file)).getMessage();
    }
}
