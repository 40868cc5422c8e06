package org.nemorelay.plugin.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;

class PluginConfigTest {
    private final PluginConfig config = PluginConfig.of(Map.of(
            "service.pid",
            "observability~1",
            "nemorelay.plugin.kind",
            "observability",
            "version",
            4L,
            "atof.enabled",
            true,
            "atof.sinks.0.type",
            "file",
            "atof.sinks.1.type",
            7L,
            "names",
            new String[] {"a", "b"},
            "none",
            new String[0]));

    @Test
    void readsFlattenedTablesAndArrays() {
        assertEquals(Set.of("version", "atof", "names", "none"), config.keys());
        assertEquals(4, config.integer("version", 1, 1, 9));
        assertEquals(5, config.integer("absent", 5, 1, 9));
        assertTrue(config.table("atof").bool("enabled", false));
        assertEquals(2, config.table("atof").tables("sinks").size());
        assertEquals("file", config.table("atof").tables("sinks").getFirst().string("type"));
        assertEquals(List.of("a", "b"), config.strings("names"));
        assertEquals(List.of(), config.tables("none"));
        assertEquals(List.of(), config.table("absent").tables("absent"));
        assertEquals("x", config.table("absent").string("y", "x"));
    }

    @Test
    void failuresNameTheWholePath() {
        PluginConfig atof = config.table("atof");
        fails("atof.sinks.1.type", () -> atof.tables("sinks").get(1).string("type"));
        fails("atof.absent", () -> atof.string("absent"));
        fails("version", () -> config.integer("version", 1, 5, 9));
        fails("version", () -> config.table("version"));
        fails("version", () -> config.strings("version"));
        fails("atof", () -> config.string("atof", ""));
        fails("atof", () -> config.tables("atof"));
        fails("names", () -> config.tables("names"));
        fails("atof.sinks", () -> atof.only("enabled"));
    }

    private static void fails(String key, Executable reading) {
        PluginConfigException e = assertThrows(PluginConfigException.class, reading);
        assertEquals(key, e.key());
        assertTrue(e.getMessage().startsWith(key + ": "), e.getMessage());
    }
}
