package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.config.PluginPlan;
import org.nemorelay.json.Json;

class RecordedPlanTest {
    @Test
    void tablesAndArraysComeBackAndSecretsDoNot() {
        PluginPlan plan = new PluginPlan() {
            @Override
            public List<Component> components() {
                return List.of(new Component("x", Optional.empty(), Optional.empty(), new Position("f", 1, 1)));
            }

            @Override
            public Map<String, Object> configuration(String kind) {
                return Map.of(
                        "version",
                        4L,
                        "atof.enabled",
                        true,
                        "atof.sinks.0.type",
                        "file",
                        "atof.sinks.1.type",
                        "stream",
                        "atof.sinks.1.headers.Authorization",
                        "Bearer s3cret",
                        "atof.sinks.1.url",
                        "https://user:s3cret@h/",
                        "names",
                        new String[] {"a", "b"});
            }

            @Override
            public Optional<Position> position(String kind, String key) {
                return Optional.empty();
            }
        };
        assertEquals(
                Json.parse(
                        "{\"components\":[{\"kind\":\"x\",\"config\":{\"version\":4,\"names\":[\"a\",\"b\"],"
                                + "\"atof\":{\"enabled\":true,\"sinks\":[{\"type\":\"file\"},"
                                + "{\"type\":\"stream\",\"url\":\"[REDACTED]\",\"headers\":{\"Authorization\":\"[REDACTED]\"}}]}}}],\"version\":1}"),
                RecordedPlan.of(plan));
    }
}
