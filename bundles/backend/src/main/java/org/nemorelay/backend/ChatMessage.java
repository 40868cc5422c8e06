package org.nemorelay.backend;

import org.nemorelay.backend.internal.ProtoReader;
import org.nemorelay.backend.internal.ProtoWriter;

/**
 * One message of a conversation ({@code backend.Message}); empty text for what it has not.
 *
 * @param toolCalls JSON text
 */
public record ChatMessage(String role, String content, String name, String toolCallId, String toolCalls) {
    public static ChatMessage of(String role, String content) {
        return new ChatMessage(role, content, "", "", "");
    }

    byte[] encode() {
        return new ProtoWriter()
                .string(1, role)
                .string(2, content)
                .string(3, name)
                .string(4, toolCallId)
                .string(6, toolCalls)
                .done();
    }

    static ChatMessage decode(byte[] message) {
        String[] field = {"", "", "", "", "", "", ""};
        ProtoReader in = new ProtoReader(message);
        for (int number = in.next(); number != 0; number = in.next()) {
            if (number < field.length) {
                field[number] = in.string();
            } else {
                in.skip();
            }
        }
        return new ChatMessage(field[1], field[2], field[3], field[4], field[6]);
    }
}
