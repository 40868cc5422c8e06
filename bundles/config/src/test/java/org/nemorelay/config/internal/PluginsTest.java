package org.nemorelay.config.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.config.PluginPlan.Component;
import org.nemorelay.config.PluginPlan.Position;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** plugins.toml: which components are planned, with which configuration, and every way to get it wrong. */
class PluginsTest {
    private final List<String> notes = new ArrayList<>();

    private Plugins read(String toml) {
        return Plugins.read(TomlFile.parse("plugins.toml", toml), notes::add);
    }

    @Test
    void componentsInFileOrderWithoutTheDisabledOnes() {
        Plugins plugins = read("""
                version = 1
                [[components]]
                kind = "observability"
                [[components]]
                kind = "off"
                enabled = false
                [[components]]
                kind = "tool_policy"
                required = false
                [components.config]
                deny = ["Bash"]
                """);
        assertEquals(
                List.of(
                        new Component(
                                "observability",
                                Optional.empty(),
                                Optional.empty(),
                                new Position("plugins.toml", 2, 1)),
                        new Component(
                                "tool_policy",
                                Optional.of(false),
                                Optional.empty(),
                                new Position("plugins.toml", 7, 1))),
                plugins.components());
        assertEquals(Map.of(), plugins.configuration("observability"));
        assertEquals(List.of(), notes);
    }

    @Test
    void configIsFlattenedAndEveryKeyKeepsItsPlace() {
        Plugins plugins = read("""
                [[components]]
                kind = "observability"
                [components.config]
                version = 4
                ratio = 0.5
                on = true
                when = 2026-01-02
                names = ["a", "b"]
                numbers = [1, 2]
                mixed = [1, 2.5]
                none = []
                [components.config.atof]
                enabled = true
                [[components.config.atof.sinks]]
                type = "file"
                headers = { Accept = "x" }
                [[components.config.atof.sinks]]
                type = "stream"
                """);
        Map<String, Object> config = plugins.configuration("observability");
        assertEquals(4L, config.get("version"));
        assertEquals(0.5, config.get("ratio"));
        assertEquals(true, config.get("on"));
        assertEquals("2026-01-02", config.get("when"));
        assertArrayEquals(new String[] {"a", "b"}, (Object[]) config.get("names"));
        assertArrayEquals(new Long[] {1L, 2L}, (Object[]) config.get("numbers"));
        assertArrayEquals(new Double[] {1.0, 2.5}, (Object[]) config.get("mixed"));
        assertArrayEquals(new String[0], (Object[]) config.get("none"));
        assertEquals("file", config.get("atof.sinks.0.type"));
        assertEquals("x", config.get("atof.sinks.0.headers.Accept"));
        assertEquals("stream", config.get("atof.sinks.1.type"));
        assertEquals(
                new Position("plugins.toml", 18, 1),
                plugins.position("observability", "atof.sinks.1.type").orElseThrow());
        assertEquals(
                plugins.position("observability", "atof.sinks.1"),
                plugins.position("observability", "atof.sinks.1.output_directory"));
        assertEquals(
                new Position("plugins.toml", 1, 1),
                plugins.position("observability", "nothing").orElseThrow());
        assertEquals(Optional.empty(), plugins.position("other", ""));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
                    version = 2                                                     | plugins.toml:1:1: version must be the integer 1
                    version = "1"                                                   | plugins.toml:1:1: version must be the integer 1
                    components = 1                                                  | plugins.toml:1:1: components must be an array of tables, it is an integer
                    components = ["x"]                                              | plugins.toml:1:15: [[components]] must be tables, this is a string
                    [[components]]\\nenabled = true                                 | plugins.toml:1:1: a component needs a kind
                    [[components]]\\nkind = 1                                       | plugins.toml:2:1: kind must be a string of letters, digits, '.', '_' and '-'
                    [[components]]\\nkind = "a b"                                   | plugins.toml:2:1: kind must be a string of letters, digits, '.', '_' and '-'
                    [[components]]\\nkind = "a"\\nenabled = 1                       | plugins.toml:3:1: enabled must be true or false, it is an integer
                    [[components]]\\nkind = "a"\\nrequired = "yes"                  | plugins.toml:3:1: required must be true or false, it is a string
                    [[components]]\\nkind = "a"\\nconfig = 1                        | plugins.toml:3:1: config must be a table, it is an integer
                    [[components]]\\nkind = "a"\\n[[components]]\\nkind = "a"       | plugins.toml:3:1: a second component of kind "a", the first is at line 1: a kind may stand once
                    [[components]]\\nkind = "a"\\nconfig.x = [1, "a"]               | plugins.toml:3:1: config key x must be an array of one type of value
                    [[components]]\\nkind = "a"\\nconfig.x = 1\\nconfig.X = 2       | plugins.toml:4:1: config key X differs from x in case or dots only
                    [policy]\\nunknown_field = "maybe"                              | plugins.toml:2:1: [policy] unknown_field must be "ignore", "warn" or "error"
                    [policy]\\nunknown_field = "error"\\n[[components]]\\nkind = "a"\\nx = 1 | plugins.toml:5:1: "x" is not a known key of component "a"; known: config, enabled, kind, required, sha256
                    """)
    void badFilesStopTheStart(String toml, String message) {
        RelayException failure = assertThrows(RelayException.class, () -> read(toml.replace("\\n", "\n")));
        assertEquals(FailureKind.CONFIGURATION, failure.kind());
        assertEquals(message, failure.getMessage());
    }

    @Test
    void whatHasNoEffectIsSaid() {
        read("[[components]]\nkind = \"a\"\nrequird = true\n[[plugins.dynamic]]\nmanifest = \"x\"\n");
        assertTrue(notes.get(0).startsWith("plugins.toml:3:1: ignored: \"requird\""), notes.toString());
        assertTrue(notes.get(1).startsWith("plugins.toml:4:1: ignored: [[plugins.dynamic]]"), notes.toString());
    }
}
