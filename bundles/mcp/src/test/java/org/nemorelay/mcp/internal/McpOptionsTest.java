package org.nemorelay.mcp.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.RelayException;

class McpOptionsTest {
    @Test
    void theAddressInBothForms() {
        assertEquals(
                "http://localhost:1",
                parse("--daemon-address", "http://localhost:1/")
                        .orElseThrow()
                        .daemonAddress()
                        .argument());
        assertEquals(
                "http://localhost:1",
                parse("--daemon-address=http://localhost:1")
                        .orElseThrow()
                        .daemonAddress()
                        .argument());
        assertEquals(Optional.empty(), parse("--help"));
        assertEquals(Optional.empty(), parse("-h"));
    }

    @Test
    void wrongUsageIsNamed() {
        assertEquals(
                "invalid value 'http://127.0.0.1' for '--daemon-address <DAEMON_ADDRESS>': daemon address must include an"
                        + " explicit port",
                wrong("--daemon-address", "http://127.0.0.1"));
        assertTrue(wrong().startsWith("the following required arguments were not provided:"));
        assertTrue(wrong("--daemon-address").startsWith("a value is required"));
        assertTrue(wrong("--port", "3").startsWith("unexpected argument '--port' found"));
        assertTrue(wrong("--daemon-address=http://localhost:1", "--daemon-address=http://localhost:1")
                .contains("multiple times"));
    }

    private static Optional<McpOptions> parse(String... arguments) {
        return McpOptions.parse(arguments);
    }

    private static String wrong(String... arguments) {
        return assertThrows(RelayException.class, () -> McpOptions.parse(arguments))
                .getMessage();
    }
}
