package org.nemorelay.frontend.internal;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Text from pieces of UTF-8 that may end within a character; what is no UTF-8 becomes U+FFFD. */
final class Utf8Pieces {
    private final CharsetDecoder decoder = StandardCharsets.UTF_8
            .newDecoder()
            .onMalformedInput(CodingErrorAction.REPLACE)
            .onUnmappableCharacter(CodingErrorAction.REPLACE);
    private byte[] rest = {};

    /** The characters that are complete now. */
    String add(byte[] piece) {
        ByteBuffer in = ByteBuffer.allocate(rest.length + piece.length)
                .put(rest)
                .put(piece)
                .flip();
        CharBuffer out = CharBuffer.allocate(in.remaining() + 1);
        decoder.decode(in, out, false);
        rest = new byte[in.remaining()];
        in.get(rest);
        return out.flip().toString();
    }

    /** What is left at the end. */
    String end() {
        return rest.length == 0 ? "" : "\uFFFD";
    }
}
