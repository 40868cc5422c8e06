package org.nemorelay.backend;

import org.nemorelay.backend.internal.ProtoReader;
import org.nemorelay.backend.internal.ProtoWriter;

/** A piece of a tool call ({@code ToolCallDelta}); {@code arguments} is JSON text, whole or in part. */
public record ToolCall(int index, String id, String name, String arguments) {
    byte[] encode() {
        return new ProtoWriter()
                .integer(1, index)
                .string(2, id)
                .string(3, name)
                .string(4, arguments)
                .done();
    }

    static ToolCall decode(byte[] message) {
        int index = 0;
        String[] field = {"", "", "", "", ""};
        ProtoReader in = new ProtoReader(message);
        for (int number = in.next(); number != 0; number = in.next()) {
            switch (number) {
                case 1 -> index = (int) in.integer();
                case 2, 3, 4 -> field[number] = in.string();
                default -> in.skip();
            }
        }
        return new ToolCall(index, field[2], field[3], field[4]);
    }
}
