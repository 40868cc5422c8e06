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
    @ValueSource(strings = {"value", "value text", "va..lue string", "a[0] string", "n 5..x", "m strict|lax", "a b c"})
    void aDeclarationThatMakesNoSenseIsRefused(String entry) {
        String message = assertThrows(IllegalArgumentException.class, () -> ConfigKeys.of(entry))
                .getMessage();
        assertTrue(message.startsWith("\"" + entry + "\""), message);
    }
}
