package org.nemorelay.json;

import java.io.InputStream;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.exc.StreamConstraintsException;
import tools.jackson.core.json.JsonFactory;

/**
 * Reads JSON into {@code Map<String, Object>} (insertion order), {@code List<Object>}, {@code String}, {@code Long},
 * {@code BigInteger}, {@code BigDecimal}, {@code Boolean} and {@code null}, and writes the same values back as compact
 * text. Duplicate keys and trailing text are errors. Stateless; safe for any thread.
 */
public final class Json {
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
            .build();
    private static final String[] REMARKS = {" (start marker at", ": enable `", " (not recognized as", ", from `"};
    private static final char[] HEX = "0123456789abcdef".toCharArray();

    private Json() {}

    /** The value that {@code text} holds; {@link JsonException} with line and column when it holds none. */
    public static Object parse(String text) {
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
            return readAll(parser, false);
        } catch (JacksonException e) {
            throw malformed(e);
        }
    }

    /** The value that the UTF-8 bytes hold; {@link JsonException} with line and column when they hold none. */
    public static Object parse(byte[] utf8) {
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), utf8)) {
            return readAll(parser, false);
        } catch (JacksonException e) {
            throw malformed(e);
        }
    }

    /** As {@link #parse(byte[])}, unmodifiable at every depth. */
    static Object parseFixed(byte[] utf8) {
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), utf8)) {
            return readAll(parser, true);
        } catch (JacksonException e) {
            throw malformed(e);
        }
    }

    /** The value that the stream holds up to its end; {@link JsonException} with line and column when it holds none. */
    public static Object parse(InputStream utf8) {
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), utf8)) {
            return readAll(parser, false);
        } catch (JacksonException e) {
            throw malformed(e);
        }
    }

    /** The object that {@code text} holds; {@link JsonException} when it holds something else. */
    public static JsonObject parseObject(String text) {
        return JsonObject.of(parse(text), "");
    }

    /** The object that the UTF-8 bytes hold; {@link JsonException} when they hold something else. */
    public static JsonObject parseObject(byte[] utf8) {
        return JsonObject.of(parse(utf8), "");
    }

    /**
     * The strings that stand under these keys of the object that the stream holds; nothing else is kept, however large it
     * is. {@link JsonException} when the stream holds something else up to its end.
     */
    public static Map<String, String> texts(InputStream utf8, List<String> keys) {
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), utf8)) {
            if (parser.nextToken() != JsonToken.START_OBJECT) {
                throw new JsonException("not a JSON object");
            }
            Map<String, String> texts = new LinkedHashMap<>();
            while (parser.nextToken() != JsonToken.END_OBJECT) {
                String name = parser.currentName();
                if (parser.nextToken() == JsonToken.VALUE_STRING && keys.contains(name)) {
                    texts.put(name, parser.getString());
                } else {
                    parser.skipChildren();
                }
            }
            if (parser.nextToken() != null) {
                throw new JsonException("text after the JSON value at " + place(parser.currentTokenLocation()));
            }
            return texts;
        } catch (JacksonException e) {
            throw malformed(e);
        }
    }

    /** Compact text of a value made of the types named above, any other {@code Number}, {@code byte[]} (as an array of 0..255), and {@link JsonObject}. */
    public static String write(Object value) {
        StringBuilder out = new StringBuilder(256);
        write(value, out);
        return out.toString();
    }

    /** An object of keys and values in turn, in that order; values may be {@code null}. */
    public static Map<String, Object> object(Object... keysAndValues) {
        Map<String, Object> object = new LinkedHashMap<>();
        for (int i = 0; i < keysAndValues.length; i += 2) {
            object.put((String) keysAndValues[i], keysAndValues[i + 1]);
        }
        return object;
    }

    private static Object readAll(JsonParser parser, boolean fixed) {
        JsonToken first = parser.nextToken();
        if (first == null) {
            throw new JsonException("empty text is not JSON");
        }
        Object value = read(parser, first, fixed);
        if (parser.nextToken() != null) {
            throw new JsonException("text after the JSON value at " + place(parser.currentTokenLocation()));
        }
        return value;
    }

    private static Object read(JsonParser parser, JsonToken token, boolean fixed) {
        return switch (token) {
            case START_OBJECT -> {
                Map<String, Object> map = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    String name = parser.currentName();
                    map.put(name, read(parser, parser.nextToken(), fixed));
                }
                yield fixed ? Collections.unmodifiableMap(map) : map;
            }
            case START_ARRAY -> {
                List<Object> list = new ArrayList<>();
                for (JsonToken next = parser.nextToken(); next != JsonToken.END_ARRAY; next = parser.nextToken()) {
                    list.add(read(parser, next, fixed));
                }
                yield fixed ? Collections.unmodifiableList(list) : list;
            }
            case VALUE_STRING -> parser.getString();
            case VALUE_NUMBER_INT ->
                switch (parser.getNumberType()) {
                    case INT, LONG -> parser.getLongValue();
                    default -> parser.getBigIntegerValue();
                };
            case VALUE_NUMBER_FLOAT -> decimal(parser);
            case VALUE_TRUE -> Boolean.TRUE;
            case VALUE_FALSE -> Boolean.FALSE;
            case VALUE_NULL -> null;
            default -> throw new JsonException("unexpected " + token);
        };
    }

    private static BigDecimal decimal(JsonParser parser) {
        try {
            return parser.getDecimalValue();
        } catch (NumberFormatException e) {
            throw new JsonException("a number is out of range at " + place(parser.currentTokenLocation()));
        }
    }

    /** A chain of tests, not a pattern switch: its bootstrap costs milliseconds in processes that live for some. */
    private static void write(Object value, StringBuilder out) {
        if (value == null) {
            out.append("null");
        } else if (value instanceof String text) {
            writeString(text, out);
        } else if (value instanceof Double number && !Double.isFinite(number)) {
            throw new JsonException(number + " has no JSON form");
        } else if (value instanceof Number || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof byte[] bytes) {
            writeBytes(bytes, out);
        } else if (value instanceof Map<?, ?> map) {
            writeMap(map, out);
        } else if (value instanceof JsonObject object) {
            writeMap(object.values(), out);
        } else if (value instanceof Iterable<?> items) {
            writeArray(items, out);
        } else {
            throw new JsonException(value.getClass().getName() + " has no JSON form");
        }
    }

    private static void writeMap(Map<?, ?> map, StringBuilder out) {
        out.append('{');
        String separator = "";
        for (Map.Entry<?, ?> entry : map.entrySet()) {
            out.append(separator);
            writeString((String) entry.getKey(), out);
            out.append(':');
            write(entry.getValue(), out);
            separator = ",";
        }
        out.append('}');
    }

    private static void writeArray(Iterable<?> items, StringBuilder out) {
        out.append('[');
        String separator = "";
        for (Object item : items) {
            out.append(separator);
            write(item, out);
            separator = ",";
        }
        out.append(']');
    }

    private static void writeBytes(byte[] bytes, StringBuilder out) {
        out.append('[');
        for (int i = 0; i < bytes.length; i++) {
            if (i > 0) {
                out.append(',');
            }
            out.append(bytes[i] & 0xff);
        }
        out.append(']');
    }

    /** What needs no escape is appended at once. Half a surrogate pair needs one: UTF-8 has no bytes for it. */
    private static void writeString(String text, StringBuilder out) {
        out.append('"');
        int begin = 0;
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (Character.isHighSurrogate(c) && i + 1 < text.length() && Character.isLowSurrogate(text.charAt(i + 1))) {
                i++;
            } else if (c < 0x20 || c == '"' || c == '\\' || Character.isSurrogate(c)) {
                out.append(text, begin, i);
                begin = i + 1;
                writeEscape(c, out);
            }
        }
        out.append(text, begin, text.length()).append('"');
    }

    private static void writeEscape(char c, StringBuilder out) {
        switch (c) {
            case '"' -> out.append("\\\"");
            case '\\' -> out.append("\\\\");
            case '\b' -> out.append("\\b");
            case '\t' -> out.append("\\t");
            case '\n' -> out.append("\\n");
            case '\f' -> out.append("\\f");
            case '\r' -> out.append("\\r");
            default ->
                out.append("\\u")
                        .append(HEX[c >> 12])
                        .append(HEX[c >> 8 & 15])
                        .append(HEX[c >> 4 & 15])
                        .append(HEX[c & 15]);
        }
    }

    private static JsonException malformed(JacksonException e) {
        if (e instanceof StreamConstraintsException) {
            return new JsonException("beyond what is read as JSON: " + plain(e.getOriginalMessage()));
        }
        return new JsonException("not JSON at " + place(e.getLocation()) + ": " + plain(e.getOriginalMessage()));
    }

    /** Without the parser's own remarks, on its settings and on where a thing began. */
    private static String plain(String message) {
        String plain = message;
        for (String remark : REMARKS) {
            int at = plain.indexOf(remark);
            plain = at < 0 ? plain : plain.substring(0, at) + (remark.startsWith(",") ? ")" : "");
        }
        return plain;
    }

    private static String place(tools.jackson.core.TokenStreamLocation location) {
        return location == null
                ? "an unknown place"
                : "line " + location.getLineNr() + ", column " + location.getColumnNr();
    }
}
