package org.nemorelay.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.nemorelay.telemetry.EventLog.Level;

class LogLineTest {
    private static final Instant TIME = Instant.parse("2026-11-29T22:53:09.008123Z");
    private final LogLine line = new LogLine("01a22983-2335-7f43-bb00-733e64184ec6");

    private String format(LogSettings.Format format, String event, String message, Object... fields) {
        return line.format(format, TIME, Level.INFO, "nemo_relay.daemon", event, message, fields);
    }

    @Test
    void humanLineIsTheStockBinarysLine() {
        assertEquals(
                "2026-11-29T22:53:09.008Z INFO root=01a22983 target=nemo_relay.daemon event=daemon_listening"
                        + " address=127.0.0.1:1 pass_through=false public_origin=http://127.0.0.1:1 is listening\n",
                format(
                        LogSettings.Format.HUMAN,
                        "daemon_listening",
                        "is listening",
                        "address",
                        "127.0.0.1:1",
                        "public_origin",
                        "http://127.0.0.1:1",
                        "pass_through",
                        false));
    }

    @Test
    void jsonLineHasAllSevenKeysInOrder() {
        assertEquals(
                "{\"event\":\"\",\"fields\":{\"flag\":true,\"none\":\"null\",\"number\":3,\"text\":\"a\"},\"level\":\"info\",\"message\":\"m\","
                        + "\"root_relay_id\":\"01a22983-2335-7f43-bb00-733e64184ec6\",\"target\":\"nemo_relay.daemon\","
                        + "\"timestamp\":\"2026-11-29T22:53:09.008Z\"}\n",
                format(
                        LogSettings.Format.JSONL,
                        "",
                        "m",
                        "text",
                        new StringBuilder("a"),
                        "number",
                        3,
                        "flag",
                        true,
                        "none",
                        null));
    }

    @Test
    void anEmptyEventIsLeftOutOfTheHumanLine() {
        assertEquals(
                "2026-11-29T22:53:09.008Z INFO root=01a22983 target=nemo_relay.daemon m\n",
                format(LogSettings.Format.HUMAN, "", "m"));
    }

    @Test
    void controlCharactersNeverReachTheReader() {
        for (LogSettings.Format format : LogSettings.Format.values()) {
            String text = format(format, "e", "a\nb\r\u001b[31m\u0000", "k\n", "v\n2026 forged");
            assertEquals(text.length() - 1, text.indexOf('\n'), text);
            assertTrue(text.indexOf('\u001b') < 0 && text.indexOf('\r') < 0, text);
        }
        assertEquals(
                "2026-11-29T22:53:09.008Z INFO root=01a22983 target=nemo_relay.daemon event=e a\\u009b\\n\n",
                format(LogSettings.Format.HUMAN, "e", "a\u009b\n"));
    }

    @Test
    void aFieldThatThrowsIsNamed() {
        Object bad = new Object() {
            @Override
            public String toString() {
                throw new IllegalStateException();
            }
        };
        assertTrue(
                format(LogSettings.Format.HUMAN, "e", "m", "k", bad).contains("k=<java.lang.IllegalStateException>"));
    }

    @Test
    void rootIdIsATimeOrderedUuid() {
        java.util.UUID id = java.util.UUID.fromString(LogLine.newRootId());
        assertEquals(7, id.version());
        assertEquals(2, id.variant());
    }
}
