package org.nemorelay.telemetry;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog.Level;

/**
 * What is logged, where, and how a line looks (plugins 3).
 *
 * @param level the least severe level that is logged anywhere
 * @param stderr whether lines go to standard error
 * @param format how lines on standard error look
 * @param files the files that lines go to as well
 */
public record LogSettings(Level level, boolean stderr, Format format, List<Sink> files) {
    /** The values of {@code stderr_format} and of a sink's {@code format}. */
    public enum Format {
        HUMAN,
        JSONL
    }

    /**
     * A file that lines are appended to.
     *
     * @param level the least severe level that goes there, within that of the log
     * @param queueCapacity how many lines may wait for the file in a process that does not wait for its log itself
     * @param rotation empty for a file that grows without end
     * @param origin where it was configured, for people
     */
    public record Sink(
            Path path, Level level, Format format, int queueCapacity, Optional<Rotation> rotation, String origin) {
        /** How many lines wait where nobody says otherwise. */
        public static final int DEFAULT_QUEUE_CAPACITY = 1_024;

        public Sink {
            Objects.requireNonNull(level);
            Objects.requireNonNull(format);
            Objects.requireNonNull(rotation);
            Objects.requireNonNull(origin);
            path = path.toAbsolutePath().normalize();
        }
    }

    /**
     * When a file is put aside, and how many that were are kept.
     *
     * @param maxBytes the file's size that no line may exceed, but one that is longer by itself
     * @param retainedFiles how many earlier files stay: {@code x.1.log} is the latest
     */
    public record Rotation(long maxBytes, int retainedFiles) {}

    /** Names the level in the environment. */
    public static final String LEVEL_VARIABLE = "NEMO_RELAY_LOG";

    /** Says in the environment whether lines go to standard error. */
    public static final String STDERR_VARIABLE = "NEMO_RELAY_LOG_STDERR";

    /** Names the format in the environment. */
    public static final String FORMAT_VARIABLE = "NEMO_RELAY_LOG_STDERR_FORMAT";

    /** Names a file of settings in the environment, in place of the three others. */
    public static final String FILE_VARIABLE = "NEMO_RELAY_LOG_CONFIG_PATH";

    /** What holds where nobody says otherwise. */
    public static final LogSettings DEFAULT = new LogSettings(Level.ERROR, true, Format.HUMAN, List.of());

    public LogSettings {
        Objects.requireNonNull(level);
        Objects.requireNonNull(format);
        files = List.copyOf(files);
    }

    /** These settings with what the environment says instead; {@link FailureKind#CONFIGURATION} for an unknown word. */
    public LogSettings with(Map<String, String> environment) {
        return new LogSettings(
                environment.containsKey(LEVEL_VARIABLE)
                        ? level(LEVEL_VARIABLE + ": ", word(environment, LEVEL_VARIABLE))
                        : level,
                environment.containsKey(STDERR_VARIABLE)
                        ? flag(STDERR_VARIABLE + ": ", word(environment, STDERR_VARIABLE))
                        : stderr,
                environment.containsKey(FORMAT_VARIABLE)
                        ? format(FORMAT_VARIABLE + ": ", word(environment, FORMAT_VARIABLE))
                        : format,
                files);
    }

    private static String word(Map<String, String> environment, String variable) {
        String word = environment.get(variable).strip();
        if (word.isEmpty()) {
            throw new RelayException(FailureKind.CONFIGURATION, variable + " must not be empty when set");
        }
        return word;
    }

    /** The level of that name; {@link FailureKind#CONFIGURATION} when there is none. */
    public static Level level(String name) {
        return level("", name);
    }

    private static Level level(String source, String name) {
        return switch (name) {
            case "error" -> Level.ERROR;
            case "warn" -> Level.WARN;
            case "info" -> Level.INFO;
            case "debug" -> Level.DEBUG;
            case "trace" -> Level.TRACE;
            default ->
                throw new RelayException(
                        FailureKind.CONFIGURATION,
                        source + "invalid logging level '" + name + "'; expected error, warn, info, debug, or trace");
        };
    }

    /** The format of that name; {@link FailureKind#CONFIGURATION} when there is none. */
    public static Format format(String name) {
        return format("", name);
    }

    private static Format format(String source, String name) {
        return switch (name) {
            case "human" -> Format.HUMAN;
            case "jsonl" -> Format.JSONL;
            default ->
                throw new RelayException(
                        FailureKind.CONFIGURATION,
                        source + "invalid logging stderr format '" + name + "'; expected human or jsonl");
        };
    }

    private static boolean flag(String source, String word) {
        return switch (word) {
            case "true", "1" -> true;
            case "false", "0" -> false;
            default ->
                throw new RelayException(
                        FailureKind.CONFIGURATION, source + "invalid value '" + word + "'; expected true or false");
        };
    }
}
