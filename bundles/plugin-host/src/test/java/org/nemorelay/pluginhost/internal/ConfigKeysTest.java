package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a manifest declares of a configuration, and every way to get that configuration wrong. */
class ConfigKeysTest {
    private static final ConfigKeys KEYS = ConfigKeys.of(List.of(
                    "value! string",
                    "count 1..10",
                    "least 0..",
                    "version 4..4",
                    "any_count integer",
                    "ratio number",
                    "on boolean",
                    "mode =strict|lax",
                    "off =false",
                    "names [string]",
                    "pattern regex",
                    "patterns [regex]",
                    "surfaces [=hooks|responses]",
                    "rules[].action! =allow|deny",
                    "rules[].tools [string]",
                    "limits.low 0..5",
                    "limits.high! 0..5",
                    "headers.* string",
                    "policy any"))
            .orElseThrow();

    private static List<String> problems(Object... config) {
        Map<String, Object> values = new TreeMap<>(Map.of("value", "v"));
        for (int i = 0; i < config.length; i += 2) {
            values.put((String) config[i], config[i + 1]);
        }
        return KEYS.problems(values).stream()
                .map(problem -> problem.key() + ": " + problem.message())
                .toList();
    }

    @Test
    void whatIsDeclaredIsTaken() {
        assertEquals(
                List.of(),
                problems(
                        "count",
                        10L,
                        "least",
                        0L,
                        "version",
                        4L,
                        "any_count",
                        -5L,
                        "ratio",
                        0.5,
                        "on",
                        false,
                        "mode",
                        "lax",
                        "off",
                        false,
                        "names",
                        new String[] {"a"},
                        "pattern",
                        "a+",
                        "patterns",
                        new String[] {"b"},
                        "surfaces",
                        new String[] {"hooks"},
                        "rules.0.action",
                        "deny",
                        "rules.0.tools",
                        new String[0],
                        "rules.1.action",
                        "allow",
                        "limits.high",
                        1L,
                        "headers.x-a",
                        "b",
                        "headers.a.b",
                        "c",
                        "policy.unknown_field",
                        "warn"));
        assertEquals(List.of(), problems("rules", new String[0]));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            count           | 11   | count: must be an integer from 1 to 10, not 11
            least           | -1   | least: must be an integer of 0 or more, not -1
            version         | 3    | version: must be the integer 4, not 3
            any_count       | 0.5  | any_count: must be an integer, not 0.5
            ratio           | x    | ratio: must be a number
            on              | 1    | on: must be true or false, not 1
            mode            | soft | mode: must be one of strict, lax, not soft
            off             | true | off: must be false, not true
            names           | x    | names: must be an array of strings
            pattern         | (a   | pattern: is no regular expression: Unclosed group at character 3, correct it
            surfaces        | x    | surfaces: must be an array of hooks, responses
            rules           | x    | rules: must be an array of tables
            limits          | x    | limits: must be a table
            value.x         | 1    | value: must be a string, not a table
            names.0.x       | 1    | names: must be an array of strings, not a table
            headers.x-a     | 1    | headers.x-a: must be a string, not 1
            nams            | x    | nams: unknown key; did you mean "names"?
            rules.0.tolls.x | 1    | rules.0.tolls: unknown key; did you mean "tools"?
            limits.middle   | 1    | limits.middle: unknown key; known here: high, low
            """)
    void whatIsNotIsTold(String key, String text, String problem) {
        Object value = text.matches("-?\\d+")
                ? (Object) Long.valueOf(text)
                : text.matches("\\d+\\.\\d+")
                        ? (Object) Double.valueOf(text)
                        : text.equals("true") ? (Object) true : text;
        assertTrue(problems(key, value).contains(problem), problems(key, value).toString());
    }

    private static List<String> problems(List<String> declared, Map<String, Object> config) {
        return ConfigKeys.of(declared).orElseThrow().problems(new TreeMap<>(config)).stream()
                .map(problem -> problem.key() + ": " + problem.message())
                .toList();
    }

    @Test
    void aBlankExpressionIsToldWhereTheArrayMustHaveSome() {
        Map<String, Object> config = Map.of("commands", new String[] {"rm", ""});
        assertEquals(
                List.of("commands: has a blank expression, which matches everything; write .* to mean that"),
                problems(List.of("commands [regex]+"), config));
        assertEquals(List.of(), problems(List.of("commands [regex]"), config));
    }

    @Test
    void anEmptyArrayAndAnEmptyStringAreToldWhereNoneIsWanted() {
        List<String> keys = List.of("words [=a|b]+", "tools [name]+", "why string+", "sign character", "at pointer");
        assertEquals(
                List.of(
                        "at: must be a JSON pointer, which begins with /",
                        "sign: must be one character",
                        "tools: must be an array, each a string that is not empty and has no blanks around it",
                        "why: must be a string that is not blank",
                        "words: is empty; name something, or remove it"),
                problems(
                        keys,
                        Map.of(
                                "words",
                                new String[0],
                                "tools",
                                new String[] {"Bash", " Read"},
                                "why",
                                " ",
                                "sign",
                                "**",
                                "at",
                                "a")));
        assertEquals(
                List.of(),
                problems(
                        keys,
                        Map.of(
                                "words",
                                new String[] {"b"},
                                "tools",
                                new String[] {"Bash"},
                                "why",
                                "so",
                                "sign",
                                "\uD83D\uDE00",
                                "at",
                                "/a")));
    }

    @ParameterizedTest
    @CsvSource({"http://h/x,true", "HTTPS://h,true", "ftp://h,false", "http:///x,false", "h,false", "http://h h,false"})
    void anAddressIsOfTheWeb(String text, boolean taken) {
        assertEquals(
                taken ? List.of() : List.of("u: must be an http or https URL"),
                problems(List.of("u url"), Map.of("u", text)));
    }

    @Test
    void howManyOfSomeKeysAreThereIsCounted() {
        List<String> keys = List.of(
                "{a|b|rows[]} 1..1",
                "a string",
                "b [string]",
                "rows[].type! =file|inline",
                "rows[].path string",
                "rows[].{path} 1.. if rows[].type=file",
                "rows[].{path} 0..0 if rows[].type=inline",
                "old any",
                "{old} 0..0");
        assertEquals(List.of("a: missing; one of a, b, rows is needed"), problems(keys, Map.of()));
        assertEquals(List.of("a: missing; one of a, b, rows is needed"), problems(keys, Map.of("rows", new String[0])));
        assertEquals(List.of(), problems(keys, Map.of("b", new String[0])));
        assertEquals(
                List.of("b: only one of a, b may be there, remove the other"),
                problems(keys, Map.of("a", "x", "b", new String[0])));
        assertEquals(
                List.of("rows.0.path: missing; it is needed where type is file"),
                problems(keys, Map.of("rows.0.type", "file", "rows.1.type", "file", "rows.1.path", "p")));
        assertEquals(
                List.of("rows.1.path: has no meaning where type is inline, remove it"),
                problems(
                        keys,
                        Map.of(
                                "rows.0.type",
                                "file",
                                "rows.0.path",
                                "p",
                                "rows.1.type",
                                "inline",
                                "rows.1.path",
                                "q")));
        assertEquals(
                List.of("old: not supported by this version, remove it"),
                problems(keys, Map.of("a", "x", "old.inside", true)));
    }

    @Test
    void aKeyIsLookedAtWhereItsConditionHolds() {
        List<String> keys = List.of(
                "on boolean",
                "sinks[].off boolean",
                "sinks[].mode! =a|b if on=true unless sinks[].off=true",
                "sinks[].name string");
        assertEquals(
                List.of("sinks.0.mode: must be one of a, b, not c", "sinks.2.mode: missing; write one of a, b"),
                problems(
                        keys,
                        Map.of(
                                "on",
                                true,
                                "sinks.0.mode",
                                "c",
                                "sinks.1.mode",
                                "c",
                                "sinks.1.off",
                                true,
                                "sinks.2.name",
                                "n")));
        assertEquals(List.of(), problems(keys, Map.of("sinks.0.mode", "c", "sinks.1.name", "n")));
    }

    @Test
    void oneBracketTooFewOrTooManyIsToldAsSuch() {
        assertEquals(
                List.of("rules: must be an array of tables: write [[components.config.rules]], not"
                        + " [components.config.rules]"),
                problems("rules.action", "deny", "rules.tools", new String[] {"a"}));
        assertEquals(
                List.of("limits: must be one table, not an array of tables: write [components.config.limits], once"),
                problems("limits.0.low", 1L, "limits.0.high", 1L).stream()
                        .filter(line -> !line.startsWith("limits.high"))
                        .toList());
        assertEquals(
                List.of("rows.0.inner: must be an array of tables: write [[components.config.rows.inner]], not"
                        + " [components.config.rows.inner]"),
                problems(List.of("rows[].inner[].x string"), Map.of("rows.0.inner.x", "y")));
    }

    @Test
    void whatIsMissingIsToldWhereItIsMissing() {
        assertEquals(
                List.of("value: missing; write a string"),
                KEYS.problems(Map.of("count", 1L)).stream()
                        .map(problem -> problem.key() + ": " + problem.message())
                        .toList());
        assertEquals(
                List.of("rules.1.action: missing; write one of allow, deny"),
                problems("rules.0.action", "deny", "rules.1.tools", new String[] {"a"}));
        assertEquals(List.of("limits.high: missing; write an integer from 0 to 5"), problems("limits.low", 1L));
    }

    @Test
    void allIsToldAndNothingTwice() {
        assertEquals(
                List.of("count: must be an integer from 1 to 10, not 0", "tbl: unknown key; known here: " + all()),
                problems("count", 0L, "tbl.a", 1L, "tbl.b", 2L));
    }

    private static String all() {
        return "any_count, count, headers, least, limits, mode, names, off, on, pattern, patterns, policy, ratio, rules,"
                + " surfaces, value, version";
    }

    /** It may be a secret. */
    @Test
    void textIsNotRepeated() {
        assertEquals(List.of("on: must be true or false"), problems("on", "s3cret"));
    }

    @Test
    void withoutADeclarationThereIsNothingToTell() {
        assertEquals(Optional.empty(), ConfigKeys.of(null));
        assertEquals(Optional.empty(), ConfigKeys.of(List.of()));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "value",
                "value text",
                "va..lue string",
                "a[0] string",
                "n 5..x",
                "m strict|lax",
                "a b c",
                "a string if b",
                "a string when b=c",
                "{a} string",
                "a string if b[].c=d"
            })
    void aDeclarationThatMakesNoSenseIsRefused(String entry) {
        String message = assertThrows(IllegalArgumentException.class, () -> ConfigKeys.of(entry))
                .getMessage();
        assertTrue(message.startsWith("\"" + entry + "\""), message);
    }
}
