package org.nemorelay.pipeline;

import java.util.concurrent.CompletionStage;

/** Bytes that come when they are asked for. */
public interface ByteSource {
    /** What ends a source. */
    byte[] END = new byte[0];

    /**
     * The next bytes, {@link #END} behind the last ones; they are the caller's to keep. Completes on any thread,
     * exceptionally when the source broke off. One read at a time.
     */
    CompletionStage<byte[]> read();

    /** Nobody wants the rest. A read under way need not complete. Further calls do nothing. */
    void cancel();

    /** A source of bytes that are here. */
    static ByteSource of(byte[] bytes) {
        return new org.nemorelay.pipeline.internal.FixedSource(bytes);
    }
}
