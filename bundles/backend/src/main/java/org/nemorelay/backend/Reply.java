package org.nemorelay.backend;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.nemorelay.backend.internal.ProtoReader;
import org.nemorelay.backend.internal.ProtoWriter;

/**
 * An answer, or a piece of one.
 *
 * @param message UTF-8; a piece may end within a character
 * @param tokens made so far
 * @param deltas where there are any they stand in for {@code message}
 */
public record Reply(byte[] message, int tokens, int promptTokens, List<ChatDelta> deltas) {
    public Reply {
        deltas = List.copyOf(deltas);
    }

    public static Reply of(String text, int tokens, int promptTokens) {
        return new Reply(text.getBytes(StandardCharsets.UTF_8), tokens, promptTokens, List.of());
    }

    public byte[] encode() {
        ProtoWriter out = new ProtoWriter().bytes(1, message).integer(2, tokens).integer(3, promptTokens);
        deltas.forEach(delta -> out.message(8, delta.encode()));
        return out.done();
    }

    /** @throws IllegalArgumentException for what is no such message */
    public static Reply decode(byte[] encoded) {
        byte[] message = {};
        int tokens = 0;
        int promptTokens = 0;
        List<ChatDelta> deltas = new ArrayList<>();
        ProtoReader in = new ProtoReader(encoded);
        for (int number = in.next(); number != 0; number = in.next()) {
            switch (number) {
                case 1 -> message = in.bytes();
                case 2 -> tokens = (int) in.integer();
                case 3 -> promptTokens = (int) in.integer();
                case 8 -> deltas.add(ChatDelta.decode(in.bytes()));
                default -> in.skip();
            }
        }
        return new Reply(message, tokens, promptTokens, deltas);
    }
}
