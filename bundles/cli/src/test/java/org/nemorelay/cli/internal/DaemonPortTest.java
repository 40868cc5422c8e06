package org.nemorelay.cli.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.protocol.RelayException;

/** Commands that ask a daemon ask the one that the same settings would start. */
class DaemonPortTest {
    @TempDir
    Path folder;

    private int port(Map<String, String> flags) throws IOException {
        Files.createDirectories(folder.resolve("tree/etc"));
        return DaemonPort.of(
                new LaunchOptions("status", folder.resolve("tree"), flags, Map.of("HOME", folder.toString())));
    }

    private void configured(String text) throws IOException {
        Files.writeString(
                Files.createDirectories(folder.resolve(".config/nemo-relay")).resolve("config.toml"), text);
    }

    @Test
    void optionBeforeConfigurationBeforeDefault() throws IOException {
        assertEquals(47632, port(Map.of()));
        configured("[daemon]\nport = 47123\n");
        assertEquals(47123, port(Map.of()));
        assertEquals(47124, port(Map.of("port", "47124")));
    }

    @Test
    void aMistakeInTheFileIsToldUnlessThePortIsGiven() throws IOException {
        configured("[daemon]\nport = \"x\"\n");
        RelayException failure = assertThrows(RelayException.class, () -> port(Map.of()));
        assertTrue(failure.getMessage().contains("config.toml:2:1: [daemon] port"), failure.getMessage());
        assertEquals(47124, port(Map.of("port", "47124")));
    }
}
