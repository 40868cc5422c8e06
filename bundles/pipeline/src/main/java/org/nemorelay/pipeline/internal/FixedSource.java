package org.nemorelay.pipeline.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.nemorelay.pipeline.ByteSource;

/** Bytes that are here already. */
public final class FixedSource implements ByteSource {
    private byte[] bytes;

    public FixedSource(byte[] bytes) {
        this.bytes = bytes;
    }

    @Override
    public CompletionStage<byte[]> read() {
        byte[] given = bytes;
        bytes = END;
        return CompletableFuture.completedStage(given);
    }

    @Override
    public void cancel() {
        bytes = END;
    }
}
