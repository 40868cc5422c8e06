package org.nemorelay.backend;

import org.nemorelay.backend.internal.ProtoReader;
import org.nemorelay.backend.internal.ProtoWriter;

/** A model to load; {@code modelFile} is its path at the worker, empty for a backend that needs none. */
public record ModelOptions(String model, int contextSize, String modelFile) {
    public byte[] encode() {
        return new ProtoWriter()
                .string(1, model)
                .integer(2, contextSize)
                .string(21, modelFile)
                .done();
    }

    /** @throws IllegalArgumentException for what is no such message */
    public static ModelOptions decode(byte[] message) {
        String model = "";
        int contextSize = 0;
        String file = "";
        ProtoReader in = new ProtoReader(message);
        for (int number = in.next(); number != 0; number = in.next()) {
            switch (number) {
                case 1 -> model = in.string();
                case 2 -> contextSize = (int) in.integer();
                case 21 -> file = in.string();
                default -> in.skip();
            }
        }
        return new ModelOptions(model, contextSize, file);
    }
}
