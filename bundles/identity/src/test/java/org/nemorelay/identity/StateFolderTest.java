package org.nemorelay.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

class StateFolderTest {
    @Test
    void aDamagedPortFileIsRefused(@TempDir Path folder) throws IOException {
        StateFolder state = StateFolder.at(folder.resolve("nemo-relay"));
        state.generations(44_801);
        Path file = state.daemon().resolve("first-daemon.port");
        assertEquals("44801\n", Files.readString(file));
        for (String content : List.of(
                "",
                "\n",
                "44",
                "4480",
                "44802",
                "zzz\n",
                "0\n",
                "65536\n",
                "-1\n",
                "+44801\n",
                "044801\n",
                "44801\n\n",
                "44801 ",
                "99999999999\n",
                "\u00e9")) {
            Files.writeString(file, content);
            RelayException failure = assertThrows(RelayException.class, () -> state.generations(44_801), content);
            assertEquals(FailureKind.STATE, failure.kind());
            assertEquals(
                    file + " is not a valid port file (it must hold a number from 1 to 65535, the end of the line and"
                            + " nothing else); remove it: the next daemon to start has the account's record of workers",
                    failure.getMessage());
            assertEquals(content, Files.readString(file));
        }
        for (String content : List.of("1\n", "65535\n", "44801\n")) {
            Files.writeString(file, content);
            state.generations(44_801);
            assertEquals(content, Files.readString(file));
        }
        Files.delete(file);
        state.generations(44_802);
        assertEquals("44802\n", Files.readString(file));
    }

    /** Earlier versions wrote it so. */
    @Test
    void aPortWithoutTheEndOfItsLineIsCompletedByTheDaemonWhoseItIs(@TempDir Path folder) throws IOException {
        StateFolder state = StateFolder.at(folder.resolve("nemo-relay"));
        state.generations(44_801);
        Path file = state.daemon().resolve("first-daemon.port");
        Files.writeString(file, "44801");
        state.generations(44_801);
        assertEquals("44801\n", Files.readString(file));
    }

    @Test
    void xdgThenHome() {
        assertEquals(
                Path.of("/x/nemo-relay"),
                StateFolder.of(Map.of("XDG_CONFIG_HOME", "/x", "HOME", "/h")).base());
        assertEquals(
                Path.of("/h/.config/nemo-relay/daemon"),
                StateFolder.of(Map.of("XDG_CONFIG_HOME", "", "HOME", "/h")).daemon());
        assertEquals(
                Path.of("/h/.config/nemo-relay"),
                StateFolder.of(Map.of("XDG_CONFIG_HOME", "x", "HOME", "/h")).base());
        assertThrows(RelayException.class, () -> StateFolder.of(Map.of("XDG_CONFIG_HOME", "x", "HOME", "h")));
        RelayException failure = assertThrows(RelayException.class, () -> StateFolder.of(Map.of()));
        assertEquals(FailureKind.CONFIGURATION, failure.kind());
    }
}
