package org.nemorelay.http.internal;

import java.nio.ByteBuffer;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.RetainableByteBuffer;
import org.eclipse.jetty.util.BufferUtil;

/** What the next write carries: one read as it is, or several small ones as one. Its pump serialises all use. */
final class JoinedReads {
    /** As much as one write joins; a larger read goes out by itself. */
    private static final int JOIN = 16 * 1024;
    /** From here on a read is written without waiting for what else is readable. */
    private static final int LARGE = JOIN / 2;

    private final ByteBufferPool buffers;
    private Content.Chunk alone;
    private RetainableByteBuffer joined;

    JoinedReads(ByteBufferPool buffers) {
        this.buffers = buffers;
    }

    boolean isEmpty() {
        return alone == null && joined == null;
    }

    /** Whether it is one read that needs no other. */
    boolean isLarge() {
        return alone != null && alone.remaining() >= LARGE;
    }

    ByteBuffer bytes() {
        return alone != null
                ? alone.getByteBuffer()
                : joined != null ? joined.getByteBuffer() : BufferUtil.EMPTY_BUFFER;
    }

    /** Takes the chunk over, or leaves it where there is no room for it. */
    boolean join(Content.Chunk chunk) {
        if (isEmpty()) {
            alone = chunk;
            return true;
        }
        if (joined == null) {
            if (alone.remaining() + chunk.remaining() > JOIN) {
                return false;
            }
            joined = buffers.acquire(JOIN, true);
            append(alone);
            alone = null;
        } else if (BufferUtil.space(joined.getByteBuffer()) < chunk.remaining()) {
            return false;
        }
        append(chunk);
        return true;
    }

    private void append(Content.Chunk chunk) {
        ByteBuffer target = joined.getByteBuffer();
        int position = BufferUtil.flipToFill(target);
        target.put(chunk.getByteBuffer());
        BufferUtil.flipToFlush(target, position);
        chunk.release();
    }

    /** Written, or not to be written any more. */
    void release() {
        if (alone != null) {
            alone.release();
            alone = null;
        }
        if (joined != null) {
            joined.release();
            joined = null;
        }
    }
}
