package org.nemorelay.plugin.observability.internal;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
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
 * The {@code observability} component of plugins.toml (plugins.md 2.4): ATOF lines to files and over HTTP, traces over OTLP.
 * What the sections may hold beyond that is refused by name, not skipped. Threading: activation on any thread, then as
 * {@link EventSubscriber} says.
 */
@PluginKind(
        value = Observability.KIND,
        observer = true,
        config = {
            "version 4..4",
            "enable_full_payloads boolean",
            "policy any",
            "atif.enabled =false",
            "atif any",
            "atof.enabled boolean",
            "atof.{sinks[]} 1.. if atof.enabled=true",
            "atof.sinks[].type! =file|stream if atof.enabled=true",
            "atof.sinks[].{url} 1.. if atof.enabled=true if atof.sinks[].type=stream",
            "atof.sinks[].{url|name|transport|headers|header_env|timeout_millis|field_name_policy} 0..0 if atof.enabled=true if atof.sinks[].type=file",
            "atof.sinks[].{output_directory|filename|mode} 0..0 if atof.enabled=true if atof.sinks[].type=stream",
            "atof.sinks[].output_directory string",
            "atof.sinks[].filename string",
            "atof.sinks[].mode =append|overwrite if atof.enabled=true",
            "atof.sinks[].url url if atof.enabled=true",
            "atof.sinks[].name any",
            "atof.sinks[].transport =http_post if atof.enabled=true",
            "atof.sinks[].headers.* string",
            "atof.sinks[].header_env.* string",
            "atof.sinks[].timeout_millis 1..2147483647 if atof.enabled=true",
            "atof.sinks[].field_name_policy =preserve|replace_dots if atof.enabled=true",
            "opentelemetry.enabled boolean",
            "opentelemetry.logs.enabled =false if opentelemetry.enabled=true",
            "opentelemetry.logs any",
            "opentelemetry.metrics.enabled =false if opentelemetry.enabled=true",
            "opentelemetry.metrics any",
            "opentelemetry.{endpoints[]} 1.. if opentelemetry.enabled=true",
            "opentelemetry.endpoints[].type! =full|gen_ai if opentelemetry.enabled=true",
            "opentelemetry.endpoints[].endpoint! url if opentelemetry.enabled=true",
            "opentelemetry.endpoints[].transport =http_binary if opentelemetry.enabled=true",
            "opentelemetry.endpoints[].service_name string",
            "opentelemetry.endpoints[].service_namespace string",
            "opentelemetry.endpoints[].service_version string",
            "opentelemetry.endpoints[].instrumentation_scope string",
            "opentelemetry.endpoints[].timeout_millis 1..2147483647 if opentelemetry.enabled=true",
            "opentelemetry.endpoints[].max_queue_size 1..1000000 if opentelemetry.enabled=true",
            "opentelemetry.endpoints[].max_export_batch_size 1..1000000 if opentelemetry.enabled=true",
            "opentelemetry.endpoints[].scheduled_delay_millis 1..3600000 if opentelemetry.enabled=true",
            "opentelemetry.endpoints[].headers.* string",
            "opentelemetry.endpoints[].header_env.* string",
            "opentelemetry.endpoints[].resource_attributes.* string",
            "opentelemetry.endpoints[].mark_projection =inherit|event if opentelemetry.enabled=true",
            "opentelemetry.endpoints[].mark_exclude_names [string]"
        })
@Component(
        service = EventSubscriber.class,
        configurationPid = Observability.KIND,
        configurationPolicy = ConfigurationPolicy.REQUIRE)
public final class Observability implements EventSubscriber {
    static final String KIND = "observability";
    private static final long CONFIG_VERSION = 4;
    private static final String DEFAULT_FILENAME = "nemo-relay-events-%Y-%m-%d-%H.%M.%S.jsonl";

    private final List<Sink> sinks;

    @Activate
    public Observability(Map<String, ?> properties) {
        this(properties, Clock.systemUTC(), System.getenv());
    }

    Observability(Map<String, ?> properties, Clock clock, Map<String, String> environment) {
        sinks = open(PluginConfig.of(properties), clock, environment);
    }

    @Override
    public void onEvent(Event event) throws IOException, InterruptedException {
        each(sink -> sink.write(event));
    }

    @Override
    public void flush() throws IOException, InterruptedException {
        each(Sink::flush);
    }

    private interface Step {
        void take(Sink sink) throws IOException, InterruptedException;
    }

    /** One after the other; the first failure is told when all have had their turn. */
    private void each(Step step) throws IOException, InterruptedException {
        IOException failure = null;
        for (Sink sink : sinks) {
            try {
                step.take(sink);
            } catch (IOException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }

    @Deactivate
    void close() {
        sinks.forEach(Sink::close);
    }

    private static List<Sink> open(PluginConfig config, Clock clock, Map<String, String> environment) {
        config.only("version", "enable_full_payloads", "policy", "atof", "atif", "opentelemetry");
        long version = config.integer("version", CONFIG_VERSION, 0, Long.MAX_VALUE);
        if (version != CONFIG_VERSION) {
            throw config.failure("version", version + " is not supported, write version = " + CONFIG_VERSION);
        }
        config.bool("enable_full_payloads", false);
        if (config.has("atif") && config.table("atif").bool("enabled", false)) {
            throw config.failure("atif", "not supported by this version, remove the section or disable it");
        }
        List<Sink> sinks = new ArrayList<>();
        try {
            atof(config.table("atof"), clock, environment, sinks);
            traces(config.table("opentelemetry"), environment, sinks);
        } catch (RuntimeException e) {
            sinks.forEach(Sink::close);
            throw e;
        }
        return List.copyOf(sinks);
    }

    private static void atof(PluginConfig atof, Clock clock, Map<String, String> environment, List<Sink> sinks) {
        atof.only("enabled", "sinks");
        List<PluginConfig> tables = atof.tables("sinks");
        if (!atof.bool("enabled", false)) {
            return;
        }
        if (tables.isEmpty()) {
            throw atof.failure("sinks", "an enabled section needs at least one sink");
        }
        for (PluginConfig sink : tables) {
            switch (sink.string("type")) {
                case "file" -> sinks.add(open(sink, clock, sinks));
                case "stream" -> sinks.add(stream(sink, environment, sinks.size() + 1));
                case String other ->
                    throw sink.failure("type", "\"" + other + "\" is no sink type, use \"file\" or \"stream\"");
            }
        }
    }

    private static Sink stream(PluginConfig sink, Map<String, String> environment, int number) {
        sink.only("type", "url", "name", "transport", "headers", "header_env", "timeout_millis", "field_name_policy");
        switch (sink.string("transport", "http_post")) {
            case "http_post" -> {}
            case "ndjson", "websocket" ->
                throw sink.failure("transport", "only http_post is supported by this version");
            case String other -> throw sink.failure("transport", "\"" + other + "\" is no transport, use http_post");
        }
        return new AtofPost(HttpTarget.of(sink, "url", environment), FieldNames.of(sink), number);
    }

    private static void traces(PluginConfig section, Map<String, String> environment, List<Sink> sinks) {
        section.only("enabled", "endpoints", "logs", "metrics");
        List<PluginConfig> endpoints = section.tables("endpoints");
        if (!section.bool("enabled", false)) {
            return;
        }
        for (String signal : List.of("logs", "metrics")) {
            if (section.has(signal) && section.table(signal).bool("enabled", false)) {
                throw section.failure(signal, "not supported by this version, remove the section or disable it");
            }
        }
        if (endpoints.isEmpty()) {
            throw section.failure("endpoints", "an enabled section needs at least one endpoint");
        }
        for (PluginConfig endpoint : endpoints) {
            sinks.add(Traces.of(endpoint, environment));
        }
    }

    private static AtofFile open(PluginConfig sink, Clock clock, List<Sink> others) {
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
        if (others.stream()
                .anyMatch(other -> other instanceof AtofFile file && file.path().equals(path))) {
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
        return text.contains("{user}") ? text.replace("{user}", user(System.getProperty("user.name"))) : text;
    }

    /** The account's name; its number where it has none, which the platform writes as a question mark. */
    static String user(String name) {
        if (!name.isEmpty() && !name.equals("?")) {
            return name;
        }
        try {
            return Files.getAttribute(Path.of("/proc/self"), "unix:uid").toString();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot tell which user this is: " + e.getMessage(), e);
        }
    }
}
