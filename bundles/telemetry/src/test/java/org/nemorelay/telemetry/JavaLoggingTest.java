package org.nemorelay.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.logging.LogManager;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class JavaLoggingTest {
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    @AfterEach
    void restore() throws Exception {
        LogManager.getLogManager().readConfiguration();
    }

    @Test
    void thirdPartyLinesBecomeEvents() {
        ProcessEventLog log = ProcessEventLog.synchronous(
                new LogSettings(EventLog.Level.WARN, true, LogSettings.Format.HUMAN, List.of()), out);
        JavaLogging.install(log);
        Logger logger = Logger.getLogger("org.example.Third");
        logger.info("hidden");
        logger.log(java.util.logging.Level.WARNING, "port {0}", 7);
        logger.log(java.util.logging.Level.SEVERE, "failed", new IllegalStateException("why"));
        String text = out.toString(StandardCharsets.UTF_8);
        assertFalse(text.contains("hidden"));
        assertTrue(text.contains("WARN ") && text.contains(" target=org.example.Third port 7\n"), text);
        assertTrue(text.contains("exception=java.lang.IllegalStateException: why failed\n"), text);
    }

    @Test
    void librariesNeverSpeakBelowWarningSinceTheirDebugLinesHoldSecrets() {
        ProcessEventLog log = ProcessEventLog.synchronous(
                new LogSettings(EventLog.Level.TRACE, true, LogSettings.Format.HUMAN, List.of()), out);
        JavaLogging.install(log);
        Logger logger = Logger.getLogger("org.example.Third");
        logger.setLevel(java.util.logging.Level.ALL);
        logger.finest("authorization: Bearer secret");
        logger.info("authorization: Bearer secret");
        assertEquals("", out.toString(StandardCharsets.UTF_8));
    }

    @Test
    void theLevelIsCutAtTheLoggerSoThatHiddenLinesCostNothing() {
        ProcessEventLog log = ProcessEventLog.synchronous(LogSettings.DEFAULT, out);
        JavaLogging.install(log);
        assertFalse(Logger.getLogger("org.example.Third").isLoggable(java.util.logging.Level.WARNING));
        log.configure(new LogSettings(EventLog.Level.TRACE, true, LogSettings.Format.HUMAN, List.of()));
        JavaLogging.install(log);
        assertTrue(Logger.getLogger("org.example.Third").isLoggable(java.util.logging.Level.WARNING));
        assertFalse(Logger.getLogger("org.example.Third").isLoggable(java.util.logging.Level.FINE));
    }
}
