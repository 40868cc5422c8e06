package org.nemorelay.plugin.observability.internal;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.plugin.api.PluginConfigException;

class ConfigurationTest {
    @TempDir
    private Path folder;

    @Test
    void sectionsThatAreOffAreFine() {
        assertDoesNotThrow(() -> new Observability(Map.of(), Clock.systemUTC(), Map.of()));
        assertDoesNotThrow(() -> new Observability(
                Map.of("version", 4L, "atif.enabled", false, "opentelemetry.enabled", false, "atof.enabled", false),
                Clock.systemUTC(),
                Map.of()));
    }

    @Test
    void everythingElseIsRefusedByName() throws Exception {
        refused("version: 3 is not supported, write version = 4", Map.of("version", 3L));
        refused("atif: not supported by this version, remove the section or disable it", Map.of("atif.enabled", true));
        refused(
                "opentelemetry.endpoints: an enabled section needs at least one endpoint",
                Map.of("opentelemetry.enabled", true));
        refused(
                "opentelemetry.endpoints.0.type: openinference is not supported by this version, use full or gen_ai",
                Map.of("opentelemetry.enabled", true, "opentelemetry.endpoints.0.type", "openinference"));
        refused(
                "opentelemetry.endpoints.0.endpoint: must be an http or https URL",
                Map.of(
                        "opentelemetry.enabled", true,
                        "opentelemetry.endpoints.0.type", "full",
                        "opentelemetry.endpoints.0.endpoint", "localhost"));
        refused(
                "opentelemetry.metrics: not supported by this version, remove the section or disable it",
                Map.of("opentelemetry.enabled", true, "opentelemetry.metrics.enabled", true));
        refused(
                "opentelemetry.logs: not supported by this version, remove the section or disable it",
                Map.of("opentelemetry.enabled", true, "opentelemetry.logs.enabled", true));
        refused(
                "opentelemetry.endpoints.0.transport: only http_binary is supported by this version",
                Map.of(
                        "opentelemetry.enabled", true,
                        "opentelemetry.endpoints.0.type", "full",
                        "opentelemetry.endpoints.0.endpoint", "http://localhost:4317",
                        "opentelemetry.endpoints.0.transport", "grpc"));
        refused(
                "openinference: unknown key; known here: version, enable_full_payloads, policy, atof, atif, opentelemetry",
                Map.of("openinference.enabled", true));
        refused("atof.sinks: an enabled section needs at least one sink", Map.of("atof.enabled", true));
        refused("atof.enabled: must be true or false", Map.of("atof.enabled", "yes"));
        refusedSink("atof.sinks.0.type: missing; a string is needed", Map.of("mode", "append"));
        refusedSink(
                "atof.sinks.0.transport: only http_post is supported by this version",
                Map.of("type", "stream", "url", "ws://localhost", "transport", "websocket"));
        refusedSink(
                "atof.sinks.0.header_env.x-key: the variable NOPE is not set",
                Map.of("type", "stream", "url", "http://localhost", "header_env.x-key", "NOPE"));
        refusedSink("atof.sinks.0.type: \"pipe\" is no sink type, use \"file\" or \"stream\"", Map.of("type", "pipe"));
        refusedSink("atof.sinks.0.mode: \"x\" is neither append nor overwrite", Map.of("type", "file", "mode", "x"));
        refusedSink(
                "atof.sinks.0.path: unknown key; known here: type, output_directory, filename, mode",
                Map.of("type", "file", "path", "x"));
        refusedSink(
                "atof.sinks.0.filename: %q is not supported, use %Y %m %d %H %M %S, or %% for a percent sign",
                Map.of("type", "file", "filename", "%q"));
        refusedSink(
                "atof.sinks.0.transport: only http_post is supported by this version",
                Map.of("type", "stream", "url", "http://localhost", "transport", "ndjson"));
        Path plain = Files.createFile(folder.resolve("plain"));
        refusedSink(
                "atof.sinks.0.output_directory: cannot open " + plain + "/x/e: Not a directory",
                Map.of("type", "file", "output_directory", plain + "/x", "filename", "e"));
    }

    private static void refusedSink(String message, Map<String, ?> sink) {
        Map<String, Object> properties = new HashMap<>(Map.of("atof.enabled", true));
        sink.forEach((key, value) -> properties.put("atof.sinks.0." + key, value));
        refused(message, properties);
    }

    private static void refused(String message, Map<String, ?> properties) {
        PluginConfigException e = assertThrows(
                PluginConfigException.class, () -> new Observability(properties, Clock.systemUTC(), Map.of()));
        assertEquals(message, e.getMessage());
    }
}
