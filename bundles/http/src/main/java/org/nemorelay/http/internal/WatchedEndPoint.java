package org.nemorelay.http.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * A server connection that notices a client's leaving while its HTTP/1.1 response is under way. Jetty reads nothing
 * between the end of a request and the end of its response, so nothing would tell. This end point registers for reading
 * itself, hands the registration to the connection when that asks for it, and keeps the few bytes of a pipelined request
 * that it may come upon. While an exchange is watched, silence never closes the connection.
 */
final class WatchedEndPoint extends SocketChannelEndPoint {
    private static final int PEEK = 512;

    private final Executor executor;
    private final Callback watch = new Watch();

    // Guarded by this.
    private boolean registered;
    private Callback reader;
    private Runnable onGone;
    private Runnable onBytes;
    private ByteBuffer peeked = BufferUtil.EMPTY_BUFFER;
    private boolean ended;

    WatchedEndPoint(
            SocketChannel channel, ManagedSelector selector, SelectionKey key, Scheduler scheduler, Executor executor) {
        super(channel, selector, key, scheduler);
        this.executor = executor;
    }

    /** Runs {@code action} once if the client goes away before {@link #unwatch()}; nobody may be reading. */
    void watch(Runnable action) {
        watch(action, null);
    }

    /** The same, and {@code bytes} once if the client sends something before. */
    void watch(Runnable action, Runnable bytes) {
        boolean register;
        boolean gone;
        synchronized (this) {
            onGone = action;
            onBytes = bytes;
            gone = ended;
            register = !registered && !ended && !peeked.hasRemaining();
            registered |= register;
        }
        if (gone) {
            action.run();
        } else if (register && !super.tryFillInterested(watch)) {
            synchronized (this) {
                registered = false;
            }
        }
    }

    synchronized void unwatch() {
        onGone = null;
        onBytes = null;
    }

    @Override
    public void fillInterested(Callback callback) {
        if (!tryFillInterested(callback)) {
            throw new ReadPendingException();
        }
    }

    @Override
    public boolean tryFillInterested(Callback callback) {
        synchronized (this) {
            if (registered) {
                if (reader != null) {
                    return false;
                }
                reader = callback;
                return true;
            }
            if (!peeked.hasRemaining() && !ended) {
                return super.tryFillInterested(callback);
            }
        }
        executor.execute(callback::succeeded);
        return true;
    }

    @Override
    public boolean isFillInterested() {
        synchronized (this) {
            return registered ? reader != null : super.isFillInterested();
        }
    }

    /** Under the lock, so that no byte overtakes one that is being peeked. */
    @Override
    public synchronized int fill(ByteBuffer buffer) throws IOException {
        if (registered && reader == null) {
            // Nothing can be readable before that is told: the connection looks after every response in vain.
            return 0;
        }
        if (!peeked.hasRemaining()) {
            return super.fill(buffer);
        }
        int position = BufferUtil.flipToFill(buffer);
        int filled = BufferUtil.put(peeked, buffer);
        BufferUtil.flipToFlush(buffer, position);
        return filled;
    }

    @Override
    protected void onIdleExpired(TimeoutException timeout) {
        synchronized (this) {
            if (onGone != null) {
                return;
            }
        }
        if (getConnection() instanceof HTTP2Connection http2
                && !http2.getSession().getStreams().isEmpty()) {
            return;
        }
        super.onIdleExpired(timeout);
    }

    private void readable() {
        Callback connection;
        Runnable bytes = null;
        boolean again = false;
        Throwable failure = null;
        synchronized (this) {
            registered = false;
            connection = reader;
            reader = null;
            if (connection == null) {
                try {
                    ByteBuffer buffer = BufferUtil.allocate(PEEK);
                    int filled = super.fill(buffer);
                    if (filled > 0) {
                        peeked = buffer;
                        bytes = onBytes;
                        onBytes = null;
                    } else if (filled == 0) {
                        registered = true;
                        again = true;
                    } else {
                        failure = new EofException("the client closed the connection");
                    }
                } catch (IOException e) {
                    failure = e;
                }
            }
        }
        if (connection != null) {
            connection.succeeded();
        } else if (bytes != null) {
            bytes.run();
        } else if (failure != null) {
            gone(failure);
        } else if (again && !super.tryFillInterested(watch)) {
            gone(new ReadPendingException());
        }
    }

    private void gone(Throwable cause) {
        Callback connection;
        Runnable action;
        synchronized (this) {
            registered = false;
            ended = true;
            connection = reader;
            reader = null;
            action = onGone;
            onGone = null;
            onBytes = null;
        }
        if (connection != null) {
            connection.failed(cause);
        }
        if (action != null) {
            action.run();
        }
    }

    private final class Watch implements Callback {
        @Override
        public void succeeded() {
            readable();
        }

        @Override
        public void failed(Throwable cause) {
            gone(cause);
        }

        @Override
        public InvocationType getInvocationType() {
            synchronized (WatchedEndPoint.this) {
                return reader == null ? InvocationType.NON_BLOCKING : reader.getInvocationType();
            }
        }
    }
}
