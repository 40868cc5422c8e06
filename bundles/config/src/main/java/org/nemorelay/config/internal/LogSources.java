package org.nemorelay.config.internal;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.nemorelay.config.internal.Schema.Setting;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.LogSettings;
import org.nemorelay.telemetry.LogSettings.Rotation;
import org.nemorelay.telemetry.LogSettings.Sink;

/**
 * Where logging is decided (plugins 3, as the stock binary does it): the file that {@code --log-config-path} names, alone;
 * else the file that the environment names, else {@code config.toml} with the environment's single words laid over it; and
 * the options' single words over both.
 */
public final class LogSources {
    private static final String SECTION = "logging";

    private LogSources() {}

    /**
     * The settings that hold.
     *
     * @param settings the merged settings of {@code config.toml}, by dotted name
     * @param section the section there that speaks for this process
     */
    public static LogSettings resolve(
            Map<String, String> flags, Map<String, String> environment, Map<String, Setting> settings, String section) {
        if (flags.containsKey("log-config-path")) {
            return of(file(flags.get("log-config-path")), SECTION);
        }
        LogSettings base;
        if (environment.containsKey(LogSettings.FILE_VARIABLE)) {
            base = of(file(named(environment)), SECTION);
        } else {
            base = of(settings, section).with(environment);
        }
        Map<String, String> words = new TreeMap<>();
        if (flags.containsKey("log-level")) {
            words.put(LogSettings.LEVEL_VARIABLE, flags.get("log-level"));
        }
        if (flags.containsKey("log-stderr-format")) {
            words.put(LogSettings.FORMAT_VARIABLE, flags.get("log-stderr-format"));
        }
        return base.with(words);
    }

    private static String named(Map<String, String> environment) {
        for (String other :
                List.of(LogSettings.LEVEL_VARIABLE, LogSettings.STDERR_VARIABLE, LogSettings.FORMAT_VARIABLE)) {
            if (environment.containsKey(other)) {
                throw Failures.of(LogSettings.FILE_VARIABLE + " cannot be combined with " + other);
            }
        }
        String path = environment.get(LogSettings.FILE_VARIABLE);
        if (path.isBlank()) {
            throw Failures.of(LogSettings.FILE_VARIABLE + " must not be empty when set");
        }
        return path;
    }

    private static Map<String, Setting> file(String text) {
        Path path;
        try {
            path = Path.of(text);
        } catch (InvalidPathException e) {
            throw Failures.of("logging configuration path must be a path: " + text);
        }
        if (!path.isAbsolute()) {
            throw Failures.of("logging configuration path must be absolute: " + path);
        }
        if (!path.toString().endsWith(".toml")) {
            throw Failures.of("logging configuration path must identify a .toml file: " + path);
        }
        TomlValue.Table table =
                TomlFile.read(path).orElseThrow(() -> Failures.of("logging configuration: there is no file " + path));
        TomlValue logging = table.entries().get(SECTION);
        if (logging == null) {
            throw Failures.of("logging configuration requires a [logging] section: " + path);
        }
        return Schema.check(
                new TomlValue.Table(Map.of(SECTION, logging), table.position()),
                note -> {}); // A strict section has no notes.
    }

    private static LogSettings of(Map<String, Setting> settings, String section) {
        String sinks = section + "." + Schema.SINKS + ".";
        Map<Path, Map<String, Setting>> files = new TreeMap<>();
        settings.forEach((name, setting) -> {
            if (name.startsWith(sinks)) {
                // The path may hold dots, the keys after it do not.
                int key = name.lastIndexOf('.');
                files.computeIfAbsent(Path.of(name.substring(sinks.length(), key)), _ -> new TreeMap<>())
                        .put(name.substring(key + 1), setting);
            }
        });
        LogSettings base = new LogSettings(
                value(settings, section + ".level").map(LogSettings::level).orElse(LogSettings.DEFAULT.level()),
                !settings.containsKey(section + ".stderr_enabled")
                        || (Boolean) settings.get(section + ".stderr_enabled").value(),
                value(settings, section + ".stderr_format")
                        .map(LogSettings::format)
                        .orElse(LogSettings.DEFAULT.format()),
                List.of());
        List<Sink> all = new ArrayList<>();
        files.forEach((path, keys) -> all.add(sink(path, keys)));
        return new LogSettings(base.level(), base.stderr(), base.format(), all);
    }

    /** The level that a sink does not name is the log's, whatever decides that in the end: the least severe lets all pass. */
    private static Sink sink(Path path, Map<String, Setting> keys) {
        return new Sink(
                path,
                value(keys, "level").map(LogSettings::level).orElse(Level.TRACE),
                value(keys, "format").map(LogSettings::format).orElse(LogSettings.Format.JSONL),
                Math.toIntExact(number(keys, "queue_capacity").orElse((long) Sink.DEFAULT_QUEUE_CAPACITY)),
                rotation(keys),
                keys.get("path").origin());
    }

    private static Optional<Rotation> rotation(Map<String, Setting> keys) {
        Optional<Long> bytes = number(keys, "max_file_size_bytes");
        Optional<Long> retained = number(keys, "retained_files");
        if (bytes.isPresent() != retained.isPresent()) {
            Setting given = keys.get(bytes.isPresent() ? "max_file_size_bytes" : "retained_files");
            throw Failures.of(given.origin()
                    + ": logging sink max_file_size_bytes and retained_files must be configured together");
        }
        return bytes.map(max -> new Rotation(max, Math.toIntExact(retained.orElseThrow())));
    }

    private static Optional<String> value(Map<String, Setting> settings, String name) {
        return Optional.ofNullable(settings.get(name)).map(setting -> (String) setting.value());
    }

    private static Optional<Long> number(Map<String, Setting> settings, String name) {
        return Optional.ofNullable(settings.get(name)).map(setting -> (Long) setting.value());
    }
}
