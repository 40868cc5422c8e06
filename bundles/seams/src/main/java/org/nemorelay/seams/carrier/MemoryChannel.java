package org.nemorelay.seams.carrier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;

/** One end of an in-memory connection; reads and writes block, closing either end ends both. */
final class MemoryChannel implements ByteChannel {
    record Pair(ByteChannel near, ByteChannel far) {}

    private final BytePipe in;
    private final BytePipe out;
    private volatile boolean open = true;

    private MemoryChannel(BytePipe in, BytePipe out) {
        this.in = in;
        this.out = out;
    }

    static Pair pair() {
        BytePipe one = new BytePipe();
        BytePipe other = new BytePipe();
        return new Pair(new MemoryChannel(one, other), new MemoryChannel(other, one));
    }

    @Override
    public int read(ByteBuffer target) throws IOException {
        requireOpen();
        return in.read(target);
    }

    @Override
    public int write(ByteBuffer source) throws IOException {
        requireOpen();
        return out.write(source);
    }

    @Override
    public boolean isOpen() {
        return open;
    }

    @Override
    public void close() {
        open = false;
        in.close();
        out.close();
    }

    private void requireOpen() throws ClosedChannelException {
        if (!open) {
            throw new ClosedChannelException();
        }
    }

    /** A ring of bytes. What was written before the end can still be read. */
    private static final class BytePipe {
        private final byte[] ring = new byte[64 * 1024];
        private int start;
        private int size;
        private boolean closed;

        private synchronized int read(ByteBuffer target) throws IOException {
            if (!target.hasRemaining()) {
                return 0;
            }
            while (size == 0) {
                if (closed) {
                    return -1;
                }
                await();
            }
            int count = Math.min(Math.min(size, ring.length - start), target.remaining());
            target.put(ring, start, count);
            start = (start + count) % ring.length;
            size -= count;
            notifyAll();
            return count;
        }

        private synchronized int write(ByteBuffer source) throws IOException {
            int written = source.remaining();
            while (source.hasRemaining()) {
                while (size == ring.length && !closed) {
                    await();
                }
                if (closed) {
                    throw new ClosedChannelException();
                }
                int end = (start + size) % ring.length;
                int room = end >= start ? ring.length - end : start - end;
                int count = Math.min(Math.min(room, ring.length - size), source.remaining());
                source.get(ring, end, count);
                size += count;
                notifyAll();
            }
            return written;
        }

        private synchronized void close() {
            closed = true;
            notifyAll();
        }

        private void await() throws AsynchronousCloseException {
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AsynchronousCloseException();
            }
        }
    }
}
