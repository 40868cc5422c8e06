package org.nemorelay.telemetry;

import java.util.Map;
import java.util.Objects;
import java.util.function.Supplier;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog.Level;

/** What is logged, and how a line looks (plugins 3). */
public record LogSettings(Level level, Format format) {
    /** The values of {@code stderr_format}. */
    public enum Format {
        HUMAN,
        JSONL
    }

    /** Names the level in the environment. */
    public static final String LEVEL_VARIABLE = "NEMO_RELAY_LOG";

    /** Names the format in the environment. */
    public static final String FORMAT_VARIABLE = "NEMO_RELAY_LOG_STDERR_FORMAT";

    /** What holds where nobody says otherwise. */
    public static final LogSettings DEFAULT = new LogSettings(Level.ERROR, Format.HUMAN);

    public LogSettings {
        Objects.requireNonNull(level);
        Objects.requireNonNull(format);
    }

    /** Whether the environment decides about logging: then configuration files have no say. */
    public static boolean inEnvironment(Map<String, String> environment) {
        return environment.containsKey(LEVEL_VARIABLE) || environment.containsKey(FORMAT_VARIABLE);
    }

    /** The settings of the environment; what it leaves open is the default. {@link FailureKind#CONFIGURATION} for an unknown word. */
    public static LogSettings fromEnvironment(Map<String, String> environment) {
        String level = environment.get(LEVEL_VARIABLE);
        String format = environment.get(FORMAT_VARIABLE);
        return new LogSettings(
                level == null ? DEFAULT.level : named(LEVEL_VARIABLE, () -> level(level)),
                format == null ? DEFAULT.format : named(FORMAT_VARIABLE, () -> format(format)));
    }

    private static <T> T named(String variable, Supplier<T> value) {
        try {
            return value.get();
        } catch (RelayException e) {
            throw new RelayException(e.kind(), variable + ": " + e.getMessage(), e);
        }
    }

    /** The level of that name; {@link FailureKind#CONFIGURATION} when there is none. */
    public static Level level(String name) {
        return switch (name.strip()) {
            case "error" -> Level.ERROR;
            case "warn" -> Level.WARN;
            case "info" -> Level.INFO;
            case "debug" -> Level.DEBUG;
            case "trace" -> Level.TRACE;
            default ->
                throw new RelayException(
                        FailureKind.CONFIGURATION,
                        "invalid logging level '" + name + "'; expected error, warn, info, debug, or trace");
        };
    }

    /** The format of that name; {@link FailureKind#CONFIGURATION} when there is none. */
    public static Format format(String name) {
        return switch (name.strip()) {
            case "human" -> Format.HUMAN;
            case "jsonl" -> Format.JSONL;
            default ->
                throw new RelayException(
                        FailureKind.CONFIGURATION,
                        "invalid logging stderr format '" + name + "'; expected human or jsonl");
        };
    }
}
