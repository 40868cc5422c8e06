package org.nemorelay.backend;

import org.nemorelay.backend.internal.ProtoReader;
import org.nemorelay.backend.internal.ProtoWriter;

/** What a backend is at ({@code StatusResponse}). */
public record StatusReply(State state) {
    /** In the order of their numbers. */
    public enum State {
        UNINITIALIZED,
        BUSY,
        READY
    }

    public byte[] encode() {
        return new ProtoWriter().integer(1, state.ordinal()).done();
    }

    /** @throws IllegalArgumentException for what is no such message */
    public static StatusReply decode(byte[] message) {
        State state = State.UNINITIALIZED;
        ProtoReader in = new ProtoReader(message);
        for (int number = in.next(); number != 0; number = in.next()) {
            if (number == 1) {
                long value = in.integer();
                if (value < 0 || value >= State.values().length) {
                    throw new IllegalArgumentException("there is no state " + value);
                }
                state = State.values()[(int) value];
            } else {
                in.skip();
            }
        }
        return new StatusReply(state);
    }
}
