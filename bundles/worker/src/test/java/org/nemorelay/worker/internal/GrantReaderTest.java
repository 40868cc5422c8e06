package org.nemorelay.worker.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.json.Json;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.RelayException;

final class GrantReaderTest {
    private static final LaunchGrant GRANT =
            new LaunchGrant("activation", "hush-hush", LaunchGrant.NO_DEADLINE, "127.0.0.1", 0, Optional.empty());

    private static LaunchGrant read(String text, String bind, int port, Optional<String> advertise) {
        return GrantReader.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)), bind, port, advertise);
    }

    private static RelayException refused(String text, String bind, int port, Optional<String> advertise) {
        RelayException refused = assertThrows(RelayException.class, () -> read(text, bind, port, advertise));
        assertEquals(FailureKind.UNAUTHORIZED, refused.kind());
        assertFalse(refused.getMessage().contains("hush"), refused.getMessage());
        return refused;
    }

    @Test
    void aGrantForThisCommandLineIsTaken() {
        assertEquals(GRANT, read(Json.write(GRANT.json()), "127.0.0.1", 0, Optional.empty()));
    }

    @Test
    void everythingElseIsRefusedInOneLine() {
        String text = Json.write(GRANT.json());
        assertTrue(refused("", "127.0.0.1", 0, Optional.empty()).getMessage().contains("nemo-relay daemon mcp"));
        refused("hush, not JSON", "127.0.0.1", 0, Optional.empty());
        refused("{\"activation_token\":\"hush\"}", "127.0.0.1", 0, Optional.empty());
        refused(" ".repeat(256 * 1024) + text, "127.0.0.1", 0, Optional.empty());
        refused(text, "0.0.0.0", 0, Optional.empty());
        refused(text, "127.0.0.1", 1, Optional.empty());
        refused(text, "127.0.0.1", 0, Optional.of("host"));
    }
}
