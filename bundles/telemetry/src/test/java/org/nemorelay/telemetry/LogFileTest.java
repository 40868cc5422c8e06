package org.nemorelay.telemetry;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.LogSettings.Format;
import org.nemorelay.telemetry.LogSettings.Rotation;
import org.nemorelay.telemetry.LogSettings.Sink;

/** What the log does with its files. */
class LogFileTest {
    @TempDir
    Path folder;

    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private Sink sink(String name, Level level, Optional<Rotation> rotation) {
        return new Sink(folder.resolve(name), level, Format.JSONL, 16, rotation, "config.toml:1:1");
    }

    private ProcessEventLog log(boolean stderr, Sink... sinks) {
        return ProcessEventLog.synchronous(new LogSettings(Level.INFO, stderr, Format.HUMAN, List.of(sinks)), err);
    }

    private List<String> messages(String name) throws IOException {
        return Files.readAllLines(folder.resolve(name)).stream()
                .map(line -> line.replaceAll(".*\"message\":\"(\\w+)\".*", "$1"))
                .toList();
    }

    private String stderr() {
        return err.toString(StandardCharsets.UTF_8);
    }

    @Test
    void aFileHasItsOwnLevelAndFormatWithinThoseOfTheLog() throws IOException {
        try (ProcessEventLog log = log(
                false,
                sink("deep/all.log", Level.TRACE, Optional.empty()),
                sink("warn.log", Level.WARN, Optional.empty()))) {
            log.log(Level.DEBUG, "t", "", "debug");
            log.log(Level.INFO, "t", "", "info");
            log.log(Level.WARN, "t", "", "warn");
        }
        assertEquals(List.of("info", "warn"), messages("deep/all.log"));
        assertEquals(List.of("warn"), messages("warn.log"));
        assertEquals("", stderr());
    }

    @Test
    void aFullFileIsPutAsideAndTheOldestGoes() throws IOException {
        try (ProcessEventLog log = log(false, sink("x.log", Level.INFO, Optional.of(new Rotation(400, 2))))) {
            for (String message : List.of("a", "b", "c", "d", "e", "f", "g")) {
                log.log(Level.INFO, "t", "", message); // Some 150 bytes.
            }
        }
        assertEquals(List.of("g"), messages("x.log"));
        assertEquals(List.of("e", "f"), messages("x.1.log"));
        assertEquals(List.of("c", "d"), messages("x.2.log"));
        assertFalse(Files.exists(folder.resolve("x.3.log")));
    }

    @Test
    void aFileThatWasMovedIsMadeAnew() throws IOException {
        try (ProcessEventLog log = log(false, sink("x.log", Level.INFO, Optional.empty()))) {
            log.log(Level.INFO, "t", "", "before");
            Files.move(folder.resolve("x.log"), folder.resolve("moved"));
            log.log(Level.INFO, "t", "", "after");
        }
        assertEquals(List.of("before"), messages("moved"));
        assertEquals(List.of("after"), messages("x.log"));
    }

    @Test
    void aFileThatCannotBeWrittenIsToldOnceAndTriedAgain() throws IOException {
        Path deep = folder.resolve("deep");
        try (ProcessEventLog log = log(false, sink("deep/x.log", Level.INFO, Optional.empty()))) {
            Files.delete(deep.resolve("x.log"));
            Files.delete(deep);
            log.log(Level.INFO, "t", "", "lost");
            log.log(Level.INFO, "t", "", "lost");
            Files.createDirectory(deep);
            log.log(Level.INFO, "t", "", "kept");
        }
        assertEquals(List.of("kept"), messages("deep/x.log"));
        assertEquals(1, stderr().lines().count(), stderr());
        assertTrue(
                stderr().contains(" event=log_sink_failed path=" + deep + "/x.log reason=No such file or directory "),
                stderr());
    }

    @Test
    void sinksThatWouldWriteTheSameFileAndWhatIsNoFileAreRefused() throws IOException {
        RelayException same = assertThrows(
                RelayException.class,
                () -> log(
                        true,
                        sink("x.log", Level.INFO, Optional.of(new Rotation(10, 1))),
                        sink("y/../x.1.log", Level.INFO, Optional.empty())));
        assertEquals(
                "config.toml:1:1: logging sink path conflicts with another active or rotated file: " + folder
                        + "/x.1.log",
                same.getMessage());
        RelayException directory =
                assertThrows(RelayException.class, () -> log(true, sink(".", Level.INFO, Optional.empty())));
        assertEquals(
                "config.toml:1:1: logging sink " + folder + " cannot be opened: not a regular file",
                directory.getMessage());
        Files.writeString(folder.resolve("file"), "");
        RelayException below =
                assertThrows(RelayException.class, () -> log(true, sink("file/x.log", Level.INFO, Optional.empty())));
        assertTrue(below.getMessage()
                .startsWith("config.toml:1:1: logging sink " + folder + "/file/x.log cannot be opened: "));
    }

    @Test
    void anAsynchronousLogHasWrittenItsFilesWhenItIsClosed() throws IOException {
        LogSettings settings = new LogSettings(
                Level.INFO,
                false,
                Format.HUMAN,
                List.of(new Sink(
                        folder.resolve("x.log"),
                        Level.INFO,
                        Format.JSONL,
                        8_192,
                        Optional.empty(),
                        "config.toml:1:1")));
        try (ProcessEventLog log = ProcessEventLog.asynchronous(settings, err, 4)) {
            for (int i = 0; i < 1_000; i++) {
                log.log(Level.INFO, "t", "", "m" + i);
            }
        }
        assertEquals(1_000, messages("x.log").size());
        assertEquals("m999", messages("x.log").getLast());
    }
}
