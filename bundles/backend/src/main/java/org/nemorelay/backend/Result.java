package org.nemorelay.backend;

import org.nemorelay.backend.internal.ProtoReader;
import org.nemorelay.backend.internal.ProtoWriter;

/** Whether something was done, and why not. */
public record Result(String message, boolean success) {
    public byte[] encode() {
        return new ProtoWriter().string(1, message).bool(2, success).done();
    }

    /** @throws IllegalArgumentException for what is no such message */
    public static Result decode(byte[] encoded) {
        String message = "";
        boolean success = false;
        ProtoReader in = new ProtoReader(encoded);
        for (int number = in.next(); number != 0; number = in.next()) {
            switch (number) {
                case 1 -> message = in.string();
                case 2 -> success = in.integer() != 0;
                default -> in.skip();
            }
        }
        return new Result(message, success);
    }
}
