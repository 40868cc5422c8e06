package org.nemorelay.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class JsonTextTest {
    private static final String TEXT =
            " { \"b\" : 1.50e0 ,\n\t\"a\":[1, {\"x\\u0079\":\"\\u00e9 \\\" }\"} ,3 ] , \"\u00fc/~\":null}\n";

    private static String with(String text, String pointer, Object value) {
        return new String(JsonText.of(text).with(pointer, value).bytes(), StandardCharsets.UTF_8);
    }

    private static String without(String text, String pointer) {
        return new String(JsonText.of(text).without(pointer).bytes(), StandardCharsets.UTF_8);
    }

    @Test
    void onlyTheNamedValueChanges() {
        assertEquals(TEXT.replace("1.50e0", "2"), with(TEXT, "/b", 2L));
        assertEquals(TEXT.replace("\"\\u00e9 \\\" }\"", "{\"n\":null}"), with(TEXT, "/a/1/xy", Json.object("n", null)));
        assertEquals(TEXT.replace("null", "\"\u20ac\""), with(TEXT, "/\u00fc~1~0", "\u20ac"));
        assertEquals(" [] \n".replace("[]", "5"), with(" [] \n", "", 5L));
    }

    /** A stream may be cut between the halves of a pair, and UTF-8 has no bytes for one half. */
    @Test
    void halfASurrogatePairStaysOne() {
        String half = "{\"a\":\"x\\ud83d\",\"b\":\"\\ude00\"}";
        for (String key : List.of("/a", "/b")) {
            String text = JsonText.of(half).string(key).orElseThrow();
            assertEquals(half, with(half, key, text));
        }
        assertEquals(
                "{\"a\":\"\ud83d\ude00\\ud83d\ud83d\ude00\"}",
                with("{\"a\":1}", "/a", "\ud83d\ude00\ud83d\ud83d\ude00"));
    }

    /** Whoever reads it reads what the bytes say. */
    @Test
    void itsValueCannotBeChanged() {
        JsonText text = JsonText.of("{\"a\":[{\"b\":1}]}");
        @SuppressWarnings("unchecked")
        Map<String, Object> object = (Map<String, Object>) text.value();
        @SuppressWarnings("unchecked")
        List<Object> array = (List<Object>) object.get("a");
        @SuppressWarnings("unchecked")
        Map<String, Object> inner = (Map<String, Object>) array.getFirst();
        assertThrows(UnsupportedOperationException.class, () -> object.put("a", 1L));
        assertThrows(UnsupportedOperationException.class, () -> array.add(1L));
        assertThrows(UnsupportedOperationException.class, () -> inner.clear());
        assertEquals(Optional.of(1L), text.at("/a/0/b"));
    }

    @Test
    void whatIsMissingIsAddedLast() {
        assertEquals(
                "{\"a\":1 ,\"k\":true }".replace(" ,", ",").replace("true }", "true }"),
                with("{\"a\":1 }", "/k", true));
        assertEquals("{\"k\":[1] }", with("{ }", "/k", List.of(1L)));
        assertEquals("[1,2 ]", with("[1 ]", "/-", 2L));
        assertEquals("[1,2 ]", with("[1 ]", "/1", 2L));
        assertThrows(JsonException.class, () -> JsonText.of("[1]").with("/3", 2L));
        assertThrows(JsonException.class, () -> JsonText.of("{}").with("/a/b", 2L));
        assertThrows(JsonException.class, () -> JsonText.of("{\"a\":1}").with("/a/b", 2L));
    }

    @Test
    void removingTakesOneComma() {
        assertEquals("{ \"b\":2 }", without("{ \"a\" : 1 , \"b\":2 }", "/a"));
        assertEquals("{ \"a\" : 1 }", without("{ \"a\" : 1 , \"b\":2 }", "/b"));
        assertEquals("[1 , 3]", without("[1 ,2 , 3]", "/1"));
        assertEquals("{ }", without("{\"a\":[] }", "/a"));
        assertEquals("[]", without("[7]", "/0"));
        assertEquals("[7]", without("[7]", "/x"));
        assertEquals("{\"a\":1}", without("{\"a\":1}", "/a/b"));
    }

    @Test
    void readsByPointer() {
        JsonText text = JsonText.of(TEXT);
        assertEquals(Optional.of(1L), text.at("/a/0"));
        assertEquals(Optional.of("\u00e9 \" }"), text.string("/a/1/xy"));
        assertEquals(Optional.empty(), text.at("/a/01"));
        assertEquals(Optional.empty(), text.at("/a/b"));
        assertEquals(Map.of("a", 1L), JsonText.of("{\"a\":1}").at("").orElseThrow());
        assertEquals("/a~1b/0", JsonText.pointer(JsonText.pointer("", "a/b"), 0));
    }

    @Test
    void everyEditOfEveryPlaceReadsBackAsTheEditedValue() {
        JsonText text = JsonText.of(TEXT);
        for (String pointer : List.of("/b", "/a", "/a/0", "/a/1", "/a/1/xy", "/a/2", "/\u00fc~1~0")) {
            JsonText edited = text.with(pointer, "new");
            assertEquals(Optional.of("new"), edited.at(pointer), pointer);
            assertEquals(
                    text.value(),
                    edited.with(pointer, text.at(pointer).orElse(null)).value(),
                    pointer);
            Json.parse(text.without(pointer).bytes());
        }
    }

    @Test
    void whatIsNoJsonIsRefused() {
        assertThrows(JsonException.class, () -> JsonText.of("{\"a\":").with("/a", 1L));
        assertThrows(JsonException.class, () -> JsonText.of("{\"a\":1,\"a\":2}").with("/a", 1L));
    }
}
