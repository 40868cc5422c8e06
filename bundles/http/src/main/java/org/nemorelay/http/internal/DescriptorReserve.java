package org.nemorelay.http.internal;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.Optional;

/**
 * One descriptor that is kept back for the limit of this process: with it those who knock are refused there. Without it they
 * would wait for good, or cost the one who came before them the connection. Not safe for several threads.
 */
final class DescriptorReserve implements AutoCloseable {
    private static final long TELL_NANOS = 10_000_000_000L;

    private final Runnable told;
    private Optional<SocketChannel> spare = Optional.empty();
    private Optional<Long> lastTold = Optional.empty();

    /** Takes the next connection; null when none waits. */
    interface Door {
        SocketChannel accept() throws IOException;
    }

    /** @param told hears that connections are refused, at most every 10 s */
    DescriptorReserve(Runnable told) {
        this.told = told;
    }

    /** The next connection that there is a descriptor for; null when none waits. */
    SocketChannel next(Door door) throws IOException {
        while (true) {
            restore();
            try {
                return door.accept();
            } catch (ClosedChannelException e) {
                throw e;
            } catch (IOException e) {
                if (spare.isEmpty()) {
                    throw e;
                }
                close();
                try (SocketChannel refused = door.accept()) {
                    tell();
                    if (refused == null) {
                        return null;
                    }
                }
            }
        }
    }

    private void restore() {
        if (spare.isEmpty()) {
            try {
                spare = Optional.of(SocketChannel.open());
            } catch (IOException e) {
                // The limit is reached: the next connection that ends gives one back.
            }
        }
    }

    private void tell() {
        long now = System.nanoTime();
        if (lastTold.isEmpty() || now - lastTold.get() >= TELL_NANOS) {
            lastTold = Optional.of(now);
            told.run();
        }
    }

    @Override
    public void close() throws IOException {
        if (spare.isPresent()) {
            spare.get().close();
            spare = Optional.empty();
        }
    }
}
