package org.nemorelay.protocol.control;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;

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

    /** The JSON number of an unsigned 64-bit value. */
    static Number unsigned(long value) {
        return value >= 0 ? Long.valueOf(value) : new BigInteger(Long.toUnsignedString(value));
    }
}
