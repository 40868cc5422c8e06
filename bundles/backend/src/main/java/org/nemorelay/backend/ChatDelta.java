package org.nemorelay.backend;

import java.util.ArrayList;
import java.util.List;
import org.nemorelay.backend.internal.ProtoReader;
import org.nemorelay.backend.internal.ProtoWriter;

/** A piece of an assistant's message, from backends that take it apart themselves. */
public record ChatDelta(String content, String reasoning, List<ToolCall> toolCalls) {
    public ChatDelta {
        toolCalls = List.copyOf(toolCalls);
    }

    byte[] encode() {
        ProtoWriter out = new ProtoWriter().string(1, content).string(2, reasoning);
        toolCalls.forEach(call -> out.message(3, call.encode()));
        return out.done();
    }

    static ChatDelta decode(byte[] message) {
        String content = "";
        String reasoning = "";
        List<ToolCall> calls = new ArrayList<>();
        ProtoReader in = new ProtoReader(message);
        for (int number = in.next(); number != 0; number = in.next()) {
            switch (number) {
                case 1 -> content = in.string();
                case 2 -> reasoning = in.string();
                case 3 -> calls.add(ToolCall.decode(in.bytes()));
                default -> in.skip();
            }
        }
        return new ChatDelta(content, reasoning, calls);
    }
}
