package org.nemorelay.identity;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

class StateFolderTest {
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
