package org.nemorelay.http.internal;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.util.IO;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * The last part of a connection whose client may still be sending a body that nobody wants: an answer has been given and
 * the sending direction closed. What arrives is discarded until the client closes, too (RFC 9112 9.6). A kernel resets a
 * connection that is closed with unread bytes, and the reset can overtake the answer.
 *
 * <p>Runs on the selector's thread, in place of the end point that the channel had.
 */
final class Linger implements ManagedSelector.Selectable, ManagedSelector.SelectorUpdate, Runnable, Closeable {
    /** A client that sends nothing for so long is not waited for. */
    private static final long SILENCE_MS = 5_000;
    /** Nor is one that keeps sending, after so many times that long. */
    private static final int PATIENCE = 6;

    private static final long MAX_BYTES = 64L * 1024 * 1024;
    private static final int BUFFER = 32 * 1024;
    /** Others of this selector have their turn in between. */
    private static final int READS = 8;

    private final SocketChannel channel;
    private final ManagedSelector selector;
    private final Scheduler scheduler;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER);

    private volatile long discarded;
    private volatile Scheduler.Task check;
    // The timer's own.
    private long seen;
    private int checks;

    private Linger(SocketChannel channel, ManagedSelector selector, Scheduler scheduler) {
        this.channel = channel;
        this.selector = selector;
        this.scheduler = scheduler;
    }

    /** Takes a channel over that is registered with {@code selector}; its end point has to leave its key alone. */
    static void begin(SocketChannel channel, ManagedSelector selector, Scheduler scheduler) throws IOException {
        channel.shutdownOutput();
        Linger linger = new Linger(channel, selector, scheduler);
        linger.check = scheduler.schedule(linger, SILENCE_MS, TimeUnit.MILLISECONDS);
        selector.submit(linger);
    }

    @Override
    public void update(Selector keys) {
        SelectionKey key = channel.keyFor(keys);
        if (key == null || !key.isValid()) {
            close();
            return;
        }
        key.attach(this);
        key.interestOps(SelectionKey.OP_READ);
        onSelected();
    }

    @Override
    public Runnable onSelected() {
        try {
            for (int i = 0; i < READS; i++) {
                int read = channel.read(buffer.clear());
                if (read < 0 || discarded + read > MAX_BYTES) {
                    close();
                    return null;
                }
                discarded += read;
                if (read < BUFFER) {
                    return null;
                }
            }
        } catch (IOException e) {
            // The client is gone, or this end has closed meanwhile.
            close();
        }
        return null;
    }

    @Override
    public void updateKey() {
        // What it waits for never changes.
    }

    @Override
    public void replaceKey(SelectionKey key) {
        // It keeps none.
    }

    /** The timer. */
    @Override
    public void run() {
        if (discarded == seen || ++checks == PATIENCE) {
            close();
            // A selector lets go of a closed channel when it is woken.
            selector.submit(keys -> {});
        } else {
            seen = discarded;
            check = scheduler.schedule(this, SILENCE_MS, TimeUnit.MILLISECONDS);
        }
    }

    @Override
    public void close() {
        check.cancel();
        IO.close(channel);
    }
}
