package org.nemorelay.plugin.observability.internal;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.PluginKind;
import org.osgi.service.component.annotations.Activate;
import org.osgi.service.component.annotations.Component;
import org.osgi.service.component.annotations.ConfigurationPolicy;
import org.osgi.service.component.annotations.Deactivate;

/**
 * The {@code observability} component of plugins.toml (plugins.md 2.4): its {@code atof} section, written to files. What
 * the section may hold beyond that is refused by name, not skipped. Threading: activation on any thread, then as
 * {@link EventSubscriber} says.
 */
@PluginKind(value = Observability.KIND, observer = true)
@Component(
        service = EventSubscriber.class,
        configurationPid = Observability.KIND,
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class Observability implements EventSubscriber {
    static final String KIND = "observability";
    private static final long CONFIG_VERSION = 4;
    private static final String DEFAULT_FILENAME = "nemo-relay-events-%Y-%m-%d-%H.%M.%S.jsonl";

    private final List<AtofFile> files;

    @Activate
    public Observability(Map<String, ?> properties) {
        this(properties, Clock.systemUTC());
    }

    Observability(Map<String, ?> properties, Clock clock) {
        files = open(PluginConfig.of(properties), clock);
    }

    @Override
    public void onEvent(Event event) throws IOException {
        IOException failure = null;
        for (AtofFile file : files) {
            try {
                file.write(event);
            } catch (IOException e) {
                failure = first(failure, e);
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Override
    public void flush() throws IOException {
        IOException failure = null;
        for (AtofFile file : files) {
            failure = first(failure, file.failure().orElse(null));
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Deactivate
    void close() {
        files.forEach(AtofFile::close);
    }

    private static List<AtofFile> open(PluginConfig config, Clock clock) {
        config.only("version", "enable_full_payloads", "atof", "atif", "opentelemetry");
        long version = config.integer("version", CONFIG_VERSION, 0, Long.MAX_VALUE);
        if (version != CONFIG_VERSION) {
            throw config.failure("version", version + " is not supported, write version = " + CONFIG_VERSION);
        }
        config.bool("enable_full_payloads", false);
        for (String section : List.of("atif", "opentelemetry")) {
            if (config.has(section) && config.table(section).bool("enabled", false)) {
                throw config.failure(section, "not supported by this version, remove the section or disable it");
            }
        }
        PluginConfig atof = config.table("atof").only("enabled", "sinks");
        List<PluginConfig> sinks = atof.tables("sinks");
        if (!atof.bool("enabled", false)) {
            return List.of();
        }
        if (sinks.isEmpty()) {
            throw atof.failure("sinks", "an enabled section needs at least one sink");
        }
        List<AtofFile> files = new ArrayList<>();
        try {
            for (PluginConfig sink : sinks) {
                files.add(open(sink, clock, files));
            }
        } catch (RuntimeException e) {
            files.forEach(AtofFile::close);
            throw e;
        }
        return List.copyOf(files);
    }

    private static AtofFile open(PluginConfig sink, Clock clock, List<AtofFile> others) {
        switch (sink.string("type")) {
            case "file" -> {}
            case "stream" -> throw sink.failure("type", "stream sinks are not supported by this version, use \"file\"");
            case String other -> throw sink.failure("type", "\"" + other + "\" is no sink type, use \"file\"");
        }
        sink.only("type", "output_directory", "filename", "mode");
        boolean append = switch (sink.string("mode", "append")) {
            case "append" -> true;
            case "overwrite" -> false;
            case String other -> throw sink.failure("mode", "\"" + other + "\" is neither append nor overwrite");
        };
        String filename;
        try {
            filename = FileNamePattern.expand(ofUser(sink.string("filename", DEFAULT_FILENAME)), clock.instant());
        } catch (IllegalArgumentException e) {
            throw sink.failure("filename", e.getMessage());
        }
        Path path = Path.of(ofUser(sink.string("output_directory", "")))
                .resolve(filename)
                .toAbsolutePath();
        if (others.stream().anyMatch(file -> file.path().equals(path))) {
            throw sink.failure("filename", path + " is the file of another sink already");
        }
        try {
            return AtofFile.open(path, append);
        } catch (IOException e) {
            throw sink.failure("output_directory", AtofFile.reason("cannot open", path, e));
        }
    }

    /** One configuration serves the workers of all users, and a file belongs to one of them. */
    private static String ofUser(String text) {
        return text.replace("{user}", System.getProperty("user.name"));
    }

    private static IOException first(IOException one, IOException other) {
        return one == null ? other : one;
    }
}
