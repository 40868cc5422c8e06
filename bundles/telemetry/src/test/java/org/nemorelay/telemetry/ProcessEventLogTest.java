package org.nemorelay.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.api.Test;
import org.nemorelay.telemetry.EventLog.Level;

class ProcessEventLogTest {
    private static final LogSettings INFO = new LogSettings(Level.INFO, true, LogSettings.Format.HUMAN, List.of());

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();

    private String text() {
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    void synchronousLogHasWrittenWhenItReturns() {
        try (ProcessEventLog log = ProcessEventLog.synchronous(INFO, out)) {
            log.log(Level.WARN, "t", "e", "hello");
            assertTrue(text().endsWith("WARN root=" + text().substring(35, 43) + " target=t event=e hello\n"), text());
        }
    }

    @Test
    void levelAndFormatCanChange() {
        try (ProcessEventLog log = ProcessEventLog.synchronous(INFO, out)) {
            assertFalse(log.enabled(Level.DEBUG));
            log.log(Level.DEBUG, "t", "", "hidden");
            assertEquals("", text());
            log.configure(new LogSettings(Level.DEBUG, true, LogSettings.Format.JSONL, List.of()));
            log.log(Level.DEBUG, "t", "", "shown");
            assertTrue(text().startsWith("{\"event\":\"\",") && text().contains("shown"), text());
        }
    }

    @Test
    void asynchronousLogKeepsOrderAndFlushWaits() {
        try (ProcessEventLog log = ProcessEventLog.asynchronous(INFO, out, 10_000)) {
            for (int i = 0; i < 5_000; i++) {
                log.log(Level.INFO, "t", "", "m" + i);
            }
            log.flush();
            String[] lines = text().split("\n");
            assertEquals(5_000, lines.length);
            for (int i = 0; i < lines.length; i++) {
                assertTrue(lines[i].endsWith(" m" + i), lines[i]);
            }
        }
    }

    @Test
    void aReaderThatStopsDelaysNobodyAndTheGapIsNamed() {
        CountDownLatch blocked = new CountDownLatch(1);
        CountDownLatch resume = new CountDownLatch(1);
        OutputStream slow = new OutputStream() {
            @Override
            public void write(int b) {
                out.write(b);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) {
                blocked.countDown();
                Assertions.assertDoesNotThrow(() -> resume.await());
                out.write(bytes, offset, length);
            }
        };
        try (ProcessEventLog log = ProcessEventLog.asynchronous(INFO, slow, 2)) {
            log.log(Level.INFO, "t", "", "first");
            Assertions.assertTimeoutPreemptively(Duration.ofSeconds(10), () -> blocked.await());
            for (int i = 0; i < 5; i++) {
                log.log(Level.INFO, "t", "", "m" + i);
            }
            resume.countDown();
            log.flush();
            assertTrue(text().contains(" m1\n") && !text().contains(" m2\n"), text());
            assertTrue(text().contains("event=log_events_dropped dropped=3 "), text());
        }
    }

    @Test
    void aClosedStandardErrorStopsNothing() {
        OutputStream gone = new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                throw new IOException("Broken pipe");
            }
        };
        try (ProcessEventLog log = ProcessEventLog.asynchronous(INFO, gone, 4)) {
            log.log(Level.ERROR, "t", "", "m");
            log.flush();
        }
        try (ProcessEventLog log = ProcessEventLog.synchronous(INFO, gone)) {
            log.log(Level.ERROR, "t", "", "m");
        }
    }

    @Test
    void eventsAfterCloseAreStillWritten() {
        ProcessEventLog log = ProcessEventLog.asynchronous(INFO, out, 4);
        log.close();
        log.log(Level.ERROR, "t", "", "late");
        assertTrue(text().endsWith("late\n"));
    }
}
