package org.nemorelay.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "{}",
                "[]",
                "null",
                "true",
                "-1",
                "18446744073709551615",
                "0.5",
                "\"\"",
                "{\"b\":1,\"a\":[true,null,{\"c\":\"x/y ä \uD83D\uDE00\"}]}",
                "\"a\\\"bc\\nd\u20ace\\u0001\"",
                "\"\\\"\\\\\\b\\t\\n\\f\\r\\u0001\\u001f\u007f\"",
            })
    void whatIsWrittenIsWhatWasRead(String text) {
        assertEquals(text, Json.write(Json.parse(text)));
        assertEquals(text, Json.write(Json.parse(text.getBytes(StandardCharsets.UTF_8))));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                " ",
                "{",
                "{\"a\":{\"b\":[1,",
                "{\"a\":\"x",
                "{\"a\":1,}",
                "[1,]",
                "{'a':1}",
                "nope",
                "01",
                "+1",
                "NaN",
                "1E46744073709551615",
                "-1e-99999999999",
                "1 2",
                "{} x",
                "\"\n\"",
                "{\"a\":1,\"a\":2}",
                "// c\n1",
                "\"\\x\""
            })
    void whatIsNotJsonIsRefused(String text) {
        assertPlain(assertThrows(JsonException.class, () -> Json.parse(text)));
        assertPlain(assertThrows(JsonException.class, () -> Json.parse(text.getBytes(StandardCharsets.UTF_8))));
    }

    /** People read it who know nothing of the parser and its settings. */
    private static void assertPlain(JsonException failure) {
        String message = failure.getMessage();
        assertFalse(message.contains("Feature") || message.contains("Source"), message);
    }

    @Test
    void deepNestingIsRefusedAndNotAnOverflow() {
        assertThrows(JsonException.class, () -> Json.parse("[".repeat(100_000)));
    }

    @Test
    void failuresNameThePlace() {
        JsonException failure = assertThrows(JsonException.class, () -> Json.parse("{\n  \"a\": nope\n}"));
        assertTrue(failure.getMessage().contains("line 2"), failure.getMessage());
    }

    @Test
    void valuesHaveTheirTypes() {
        assertEquals(Long.MAX_VALUE, Json.parse("9223372036854775807"));
        assertEquals(new BigInteger("9223372036854775808"), Json.parse("9223372036854775808"));
        assertEquals(new BigDecimal("1.50"), Json.parse("1.50"));
        assertNull(Json.parse("null"));
    }

    @Test
    void objectsKeepTheirOrderAndTheirNulls() {
        Map<String, Object> object = Json.object("z", 1, "a", null, "m", new byte[] {0, (byte) 255});
        assertEquals("{\"z\":1,\"a\":null,\"m\":[0,255]}", Json.write(object));
    }

    @Test
    void whatHasNoJsonFormIsRefused() {
        assertThrows(JsonException.class, () -> Json.write(Double.NaN));
        assertThrows(JsonException.class, () -> Json.write(new Object()));
        assertEquals("[1.5,2]", Json.write(Arrays.asList(1.5, 2)));
    }

    @Test
    void typedViewsNameTheWholePath() {
        JsonObject root =
                Json.parseObject("{\"a\":{\"b\":[{\"c\":\"x\"},{\"c\":5}]},\"n\":-1,\"big\":18446744073709551615}");
        List<JsonObject> items = root.object("a").objects("b");
        assertEquals("x", items.getFirst().string("c"));
        assertEquals(-1L, root.unsigned64("big"));
        assertFails("a.b[1].c", () -> items.get(1).string("c"));
        assertFails("missing", () -> root.string("missing"));
        assertFails("n", () -> root.unsigned64("n"));
        assertFails("n", () -> root.integer("n", 0, 5));
        assertFails("n", () -> root.only("a", "big"));
        assertFails("n", () -> root.bytes("n"));
        assertFails("b[0]", () -> Json.parseObject("{\"b\":[256]}").bytes("b"));
        assertFails("b", () -> Json.parseObject("{\"b\":[1]}").bytes("b", 2));
        assertThrows(JsonException.class, () -> Json.parseObject("[]"));
    }

    private static void assertFails(String key, Runnable access) {
        JsonException failure = assertThrows(JsonException.class, access::run);
        assertTrue(failure.getMessage().startsWith(key), failure.getMessage());
    }
}
