package org.nemorelay.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

class LogSettingsTest {
    @Test
    void environmentOverDefaults() {
        assertEquals(LogSettings.DEFAULT, LogSettings.DEFAULT.with(Map.of()));
        assertEquals(
                new LogSettings(EventLog.Level.TRACE, true, LogSettings.Format.JSONL, List.of()),
                LogSettings.DEFAULT.with(Map.of("NEMO_RELAY_LOG", "trace", "NEMO_RELAY_LOG_STDERR_FORMAT", "jsonl")));
    }

    @Test
    void anUnknownWordIsAConfigurationError() {
        RelayException failure =
                assertThrows(RelayException.class, () -> LogSettings.DEFAULT.with(Map.of("NEMO_RELAY_LOG", "nope")));
        assertEquals(FailureKind.CONFIGURATION, failure.kind());
        assertEquals(
                "NEMO_RELAY_LOG: invalid logging level 'nope'; expected error, warn, info, debug, or trace",
                failure.getMessage());
        assertThrows(
                RelayException.class, () -> LogSettings.DEFAULT.with(Map.of("NEMO_RELAY_LOG_STDERR_FORMAT", "xml")));
    }
}
