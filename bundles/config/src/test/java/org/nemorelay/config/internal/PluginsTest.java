package org.nemorelay.config.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.config.PluginPlan.Component;
import org.nemorelay.config.PluginPlan.Position;

/** plugins.toml: which components are planned, with which configuration, and every way to get it wrong. */
class PluginsTest {
    private static Plugins read(String toml) {
        return Plugins.read(TomlFile.parse("plugins.toml", toml));
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
        assertEquals(List.of(), plugins.problems());
        assertEquals(List.of(), plugins.notes());
    }

    /** As a dotted name none of these could be told from another, or by a plugin at all. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            "" = 1            | 4:1  | "" is empty, give it a name
            rules."" = 1      | 4:1  | rules."" is empty, give it a name
            a = [{"" = 1}, 2] | 4:7  | a.0."" is empty, give it a name
            ".x" = 1          | 4:1  | ".x" has a dot without a name beside it
            "x." = 1          | 4:1  | "x." has a dot without a name beside it
            "a..b" = 1        | 4:1  | "a..b" has a dot without a name beside it
            """)
    void aKeyWithoutANameIsNamedWithItsPlace(String line, String place, String problem) {
        Plugins plugins = read("[[components]]\nkind = \"k\"\n[components.config]\n" + line + "\n");
        assertEquals(List.of("plugins.toml:" + place + ": config key " + problem), plugins.problems());
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
                    [[componnts]]\\nkind = "a"                                      | plugins.toml:1:1: "componnts" is not a known key; did you mean "components"?
                    [[Components]]\\nkind = "a"                                     | plugins.toml:1:1: "Components" is not a known key; did you mean "components"?
                    [[plugin_list]]\\nkind = "a"                                    | plugins.toml:1:1: "plugin_list" is not a known key; did you mean [[components]]?
                    [[components]]\\nkind = "a"\\nreqired = true                  | plugins.toml:3:1: "reqired" is not a known key of component "a"; did you mean "required"?
                    [[components]]\\nkind = "a"\\nenabld = false                  | plugins.toml:3:1: "enabld" is not a known key of component "a"; did you mean "enabled"?
                    [[components]]\\nkind = "a"\\nsha265 = "0"                     | plugins.toml:3:1: "sha265" is not a known key of component "a"; did you mean "sha256"?
                    [[components]]\\nkind = "a"\\n[components.configuration]\\nx = 1 | plugins.toml:3:1: "configuration" is not a known key of component "a"; did you mean "config"?
                    [[components]]\\nkind = "a"\\n[components.settings]\\nx = 1 | plugins.toml:3:1: "settings" is not a known key of component "a"; did you mean "config"?
                    [[components]]\\nkind = "a"\\n[components.confg]\\nx = 1     | plugins.toml:3:1: "confg" is not a known key of component "a"; did you mean "config"?
                    [policy]\\nunknown_feild = "error"                            | plugins.toml:2:1: "unknown_feild" is not a known key of [policy]; did you mean "unknown_field"?
                    [policy]\\nunknown_field = "error"\\nother = 1                | plugins.toml:3:1: "other" is not a known key of [policy]; known: unknown_component, unknown_field, unsupported_value
                    theme = 1\\n[policy]\\nunknown_field = "error"               | plugins.toml:1:1: "theme" is not a known key; known: components, plugins, policy, version
                    [plugins]\\ndynamc = 1                                         | plugins.toml:2:1: "dynamc" is not a known key of [plugins]; did you mean "dynamic"?
                    [policy]\\nunknown_field = "error"\\n[[components]]\\nkind = "a"\\nx = 1 | plugins.toml:5:1: "x" is not a known key of component "a"; known: config, enabled, kind, required, sha256
                    """)
    void badFilesStopTheStart(String toml, String message) {
        assertEquals(List.of(message), read(toml.replace("\\n", "\n")).problems());
    }

    @Test
    void oneMistakeHidesNoOther() {
        Plugins plugins = read("""
                version = 2
                [[componnts]]
                [[components]]
                kind = "a"
                reqired = true
                enabld = false
                [[components]]
                kind = "b"
                required = "yes"
                [[components]]
                kind = "c"
                """);
        assertEquals(
                List.of("1:1", "2:1", "5:1", "6:1", "9:1"),
                plugins.problems().stream()
                        .map(line -> line.substring("plugins.toml:".length(), line.indexOf(": ")))
                        .toList());
        assertEquals(
                List.of("a", "c"),
                plugins.components().stream().map(Component::kind).toList());
    }

    /** The stock program takes such a file: so it is taken, and what nobody heeds is told. */
    @Test
    void whatHasNoEffectIsSaid() {
        Plugins plugins = read(
                "[theme]\ncolour = 1\n[[components]]\nkind = \"a\"\nnickname = \"b\"\n[[plugins.dynamic]]\nmanifest = \"x\"\n"
                        + "[policy]\nunheard_of = 1\n");
        assertEquals(List.of(), plugins.problems());
        assertEquals(
                List.of(
                        "plugins.toml:1:1: ignored: \"theme\" is not a known key; known: components, plugins, policy, version",
                        "plugins.toml:9:1: ignored: \"unheard_of\" is not a known key of [policy]; known:"
                                + " unknown_component, unknown_field, unsupported_value",
                        "plugins.toml:5:1: ignored: \"nickname\" is not a known key of component \"a\"; known: config,"
                                + " enabled, kind, required, sha256",
                        "plugins.toml:6:1: ignored: [[plugins.dynamic]] names plugin processes of another runtime; plugins"
                                + " here are bundles"),
                plugins.notes());
    }
}
