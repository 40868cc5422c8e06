package org.nemorelay.config.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.config.LogConfiguration;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.LogSettings;
import org.nemorelay.telemetry.LogSettings.Format;
import org.nemorelay.telemetry.LogSettings.Rotation;
import org.nemorelay.telemetry.LogSettings.Sink;

/** Which source of log settings wins, and what each may say. */
class LogSourcesTest {
    @TempDir
    Path folder;

    private Path file;

    @BeforeEach
    void aFileOfSettings() throws IOException {
        file = Files.writeString(
                folder.resolve("log.toml"),
                "[logging]\nlevel = \"warn\"\nstderr_enabled = false\n[[logging.sinks]]\npath = \"/x/y.log\"\n");
    }

    /** The file's own sink. */
    private Sink sink() {
        return new Sink(Path.of("/x/y.log"), Level.TRACE, Format.JSONL, 1_024, Optional.empty(), file + ":5:1");
    }

    private static LogSettings toml(String text, Map<String, String> flags, Map<String, String> environment) {
        Layers layers = new Layers().over(Schema.check(TomlFile.parse("f", text), _ -> {}));
        return LogSources.resolve(flags, environment, layers.merged(), "daemon.logging");
    }

    private static String failure(String text) {
        return assertThrows(RelayException.class, () -> toml(text, Map.of(), Map.of()))
                .getMessage();
    }

    @Test
    void wordsOfTheEnvironmentLieOverFilesAndOptionsOverBoth() {
        String text = "[daemon.logging]\nlevel = \"warn\"\nstderr_format = \"jsonl\"\n";
        assertEquals(new LogSettings(Level.WARN, true, Format.JSONL, List.of()), toml(text, Map.of(), Map.of()));
        Map<String, String> environment = Map.of("NEMO_RELAY_LOG", " info ", "NEMO_RELAY_LOG_STDERR", "false");
        assertEquals(new LogSettings(Level.INFO, false, Format.JSONL, List.of()), toml(text, Map.of(), environment));
        assertEquals(
                new LogSettings(Level.TRACE, false, Format.HUMAN, List.of()),
                toml(text, Map.of("log-level", "trace", "log-stderr-format", "human"), environment));
    }

    @Test
    void aFileOfTheEnvironmentStandsForConfigTomlAndOptionsLieOverIt() {
        Map<String, String> environment = Map.of("NEMO_RELAY_LOG_CONFIG_PATH", file.toString());
        assertEquals(
                new LogSettings(Level.WARN, false, Format.HUMAN, List.of(sink())),
                toml("[daemon.logging]\nlevel = \"debug\"\n", Map.of(), environment));
        assertEquals(
                new LogSettings(Level.INFO, false, Format.JSONL, List.of(sink())),
                LogConfiguration.resolve(Map.of("log-level", "info", "log-stderr-format", "jsonl"), environment));
    }

    @Test
    void aFileOnTheCommandLineDecidesAlone() {
        assertEquals(
                new LogSettings(Level.WARN, false, Format.HUMAN, List.of(sink())),
                toml(
                        "[daemon.logging]\nlevel = \"debug\"\n",
                        Map.of("log-config-path", file.toString()),
                        Map.of("NEMO_RELAY_LOG", "trace", "NEMO_RELAY_LOG_CONFIG_PATH", "/nowhere.toml")));
    }

    @Test
    void aHigherLayerLaysItsKeysOverTheSameFile() {
        Layers layers = new Layers();
        for (String text : List.of(
                "[[logging.sinks]]\npath=\"/x/./y.log\"\nlevel=\"warn\"\nformat=\"human\"\nmax_file_size_bytes=9\n",
                "[[logging.sinks]]\npath=\"/x/y.log\"\nlevel=\"info\"\nretained_files=2\nqueue_capacity=7\n"
                        + "[[logging.sinks]]\npath=\"/z.log\"\n")) {
            layers.over(Schema.check(TomlFile.parse("f", text), _ -> {}));
        }
        assertEquals(
                List.of(
                        new Sink(
                                Path.of("/x/y.log"),
                                Level.INFO,
                                Format.HUMAN,
                                7,
                                Optional.of(new Rotation(9, 2)),
                                "f:2:1"),
                        new Sink(Path.of("/z.log"), Level.TRACE, Format.JSONL, 1_024, Optional.empty(), "f:7:1")),
                LogSources.resolve(Map.of(), Map.of(), layers.merged(), "logging")
                        .files());
    }

    @Test
    void badSinksAreNamedByTheirPlace() {
        assertTrue(failure("[[daemon.logging.sinks]]\nlevel = \"info\"\n")
                .endsWith("[[daemon.logging.sinks]] requires path"));
        assertTrue(failure("[daemon.logging]\nsinks = \"x\"\n")
                .endsWith("f:2:1: [daemon.logging] sinks must be an array of tables, it is a string"));
        String sink = "[[daemon.logging.sinks]]\npath = \"/x\"\n";
        assertEquals(
                "f:3:1: logging sink max_file_size_bytes and retained_files must be configured together",
                failure(sink + "max_file_size_bytes = 1\n"));
        for (String bad : List.of(
                "max_file_size_bytes = 0",
                "retained_files = 10",
                "queue_capacity = 8193",
                "format = \"xml\"",
                "nope = 1")) {
            String message = failure(sink + bad + "\n");
            assertTrue(message.startsWith("f:3:1: ") && message.contains(bad.substring(0, bad.indexOf(' '))), message);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    NEMO_RELAY_LOG              | ''         | NEMO_RELAY_LOG must not be empty when set
                    NEMO_RELAY_LOG_STDERR       | maybe      | NEMO_RELAY_LOG_STDERR: invalid value 'maybe'; expected true or false
                    NEMO_RELAY_LOG_CONFIG_PATH  | ''         | NEMO_RELAY_LOG_CONFIG_PATH must not be empty when set
                    NEMO_RELAY_LOG_CONFIG_PATH  | x.toml     | logging configuration path must be absolute: x.toml
                    NEMO_RELAY_LOG_CONFIG_PATH  | /x         | logging configuration path must identify a .toml file: /x
                    NEMO_RELAY_LOG_CONFIG_PATH  | /no/x.toml | logging configuration: there is no file /no/x.toml
                    """)
    void badVariablesAreNamed(String variable, String value, String message) {
        assertEquals(
                message,
                assertThrows(RelayException.class, () -> LogConfiguration.resolve(Map.of(), Map.of(variable, value)))
                        .getMessage());
    }

    @Test
    void aFileOfSettingsAndSingleWordsExcludeEachOtherInTheEnvironment() {
        assertEquals(
                "NEMO_RELAY_LOG_CONFIG_PATH cannot be combined with NEMO_RELAY_LOG_STDERR",
                assertThrows(
                                RelayException.class,
                                () -> LogConfiguration.resolve(
                                        Map.of(),
                                        Map.of(
                                                "NEMO_RELAY_LOG_CONFIG_PATH",
                                                file.toString(),
                                                "NEMO_RELAY_LOG_STDERR",
                                                "true")))
                        .getMessage());
    }

    @Test
    void aFileWithoutASectionOfLoggingIsRefused() throws IOException {
        Files.writeString(file, "[daemon.logging]\nlevel = \"info\"\n");
        assertEquals(
                "logging configuration requires a [logging] section: " + file,
                assertThrows(
                                RelayException.class,
                                () -> LogConfiguration.resolve(Map.of("log-config-path", file.toString()), Map.of()))
                        .getMessage());
    }
}
