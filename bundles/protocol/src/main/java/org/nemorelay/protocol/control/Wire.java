package org.nemorelay.protocol.control;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/** Small rules of the wire that several records share. */
final class Wire {
    static final int MAX_ID = 128;

    private Wire() {}

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Whether the text has 1 to {@code max} bytes. */
    static boolean within(String text, int max) {
        return !text.isEmpty() && text.length() <= max && utf8(text).length <= max;
    }

    /** Whether no text in a JSON value holds half a surrogate pair. */
    static boolean whole(Object value) {
        return switch (value) {
            case String text -> StandardCharsets.UTF_8.newEncoder().canEncode(text);
            case Map<?, ?> map ->
                map.entrySet().stream().allMatch(entry -> whole(entry.getKey()) && whole(entry.getValue()));
            case List<?> list -> list.stream().allMatch(Wire::whole);
            case null, default -> true;
        };
    }

    /** The JSON number of an unsigned 64-bit value. */
    static Number unsigned(long value) {
        return value >= 0 ? Long.valueOf(value) : new BigInteger(Long.toUnsignedString(value));
    }
}
