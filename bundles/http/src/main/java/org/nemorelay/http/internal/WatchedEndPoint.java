package org.nemorelay.http.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ReadPendingException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.ConnectionMetaData;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * A server connection that notices a client's leaving while its HTTP/1.1 response is under way. Jetty reads nothing
 * between the end of a request and the end of its response, so nothing would tell. This end point registers for reading
 * itself, hands the registration to the connection when that asks for it, and keeps the few bytes of a pipelined request
 * that it may come upon. While an exchange is watched, or nobody but this end point waits for
 * the client, silence never closes the connection.
 */
public final class WatchedEndPoint extends SocketChannelEndPoint {
    private static final int PEEK = 512;

    private final ManagedSelector selector;
    private final Scheduler scheduler;
    private final Executor executor;
    private final Callback watch = new Watch();

    // Guarded by this.
    private boolean registered;
    private Callback reader;
    private Runnable onGone;
    private Runnable onBytes;
    private ByteBuffer peeked = BufferUtil.EMPTY_BUFFER;
    private boolean ended;

    private volatile boolean answering;
    private volatile boolean clientEnded;
    private volatile boolean lingering;

    WatchedEndPoint(
            SocketChannel channel, ManagedSelector selector, SelectionKey key, Scheduler scheduler, Executor executor) {
        super(channel, selector, key, scheduler);
        this.selector = selector;
        this.scheduler = scheduler;
        this.executor = executor;
    }

    /** The one that a request came through, in cleartext or TLS; HTTP/2 notices by itself. */
    public static Optional<WatchedEndPoint> of(Request request) {
        if (request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_2) {
            return Optional.empty();
        }
        EndPoint endPoint = request.getConnectionMetaData().getConnection().getEndPoint();
        EndPoint raw = endPoint instanceof SslConnection.SslEndPoint tls
                ? tls.getSslConnection().getEndPoint()
                : endPoint;
        return raw instanceof WatchedEndPoint watched ? Optional.of(watched) : Optional.empty();
    }

    /** Notices it if the client goes away: whoever calls {@link #watch(Runnable)} later is told at once. */
    public void watch() {
        watch(null);
    }

    /** Runs {@code action} once if the client goes away before {@link #unwatch()}; nobody may be reading. */
    void watch(Runnable action) {
        watch(action, null);
    }

    /** The same, and {@code bytes} once if the client has sent something or does so before. */
    void watch(Runnable action, Runnable bytes) {
        boolean register;
        boolean gone;
        boolean here;
        synchronized (this) {
            gone = ended;
            here = bytes != null && peeked.hasRemaining();
            onGone = action;
            onBytes = here ? null : bytes;
            register = !registered && !ended && peeked.remaining() < PEEK;
            registered |= register;
        }
        if (gone) {
            if (action != null) {
                action.run();
            }
            return;
        }
        if (register && !super.tryFillInterested(watch)) {
            synchronized (this) {
                registered = false;
            }
        }
        if (here) {
            bytes.run();
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
            if (!peeked.hasRemaining()) {
                if (registered) {
                    if (reader != null) {
                        return false;
                    }
                    reader = callback;
                    return true;
                }
                if (!ended) {
                    return super.tryFillInterested(callback);
                }
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
        if (!peeked.hasRemaining()) {
            // While this end point watches, nothing can be readable before that is told: the connection looks after
            // every response in vain.
            return registered && reader == null ? 0 : fillFromChannel(buffer);
        }
        int position = BufferUtil.flipToFill(buffer);
        int filled = BufferUtil.put(peeked, buffer);
        BufferUtil.flipToFlush(buffer, position);
        return filled;
    }

    private int fillFromChannel(ByteBuffer buffer) throws IOException {
        int filled = super.fill(buffer);
        if (filled < 0) {
            clientEnded = true;
        }
        return filled;
    }

    @Override
    public boolean flush(ByteBuffer... buffers) throws IOException {
        answering = true;
        return super.flush(buffers);
    }

    /** An HTTP/1.1 client that has been answered, and may not have read it yet, is not reset: see {@link Linger}. */
    @Override
    public void doClose() {
        if (answering && !clientEnded && selector.isRunning() && protocol() instanceof ConnectionMetaData) {
            lingering = true;
            try {
                Linger.begin(getChannel(), selector, scheduler);
                return;
            } catch (IOException e) {
                // The connection is broken already.
            }
        }
        super.doClose();
    }

    @Override
    public boolean isOpen() {
        return !lingering && super.isOpen();
    }

    @Override
    public void updateKey() {
        if (!lingering) {
            super.updateKey();
        }
    }

    /** What speaks over this end point, or over TLS upon it. */
    private Connection protocol() {
        return getConnection() instanceof SslConnection tls
                ? tls.getSslEndPoint().getConnection()
                : getConnection();
    }

    @Override
    protected void onIdleExpired(TimeoutException timeout) {
        synchronized (this) {
            if (onGone != null || registered && reader == null) {
                return;
            }
        }
        if (protocol() instanceof HTTP2Connection http2
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
                    BufferUtil.append(buffer, peeked);
                    int filled = fillFromChannel(buffer);
                    peeked = buffer;
                    if (filled >= 0) {
                        // A client that leaves through TLS says so before it closes: what is kept is no reason to stop.
                        registered = BufferUtil.space(buffer) > 0;
                        again = registered;
                        if (filled > 0) {
                            bytes = onBytes;
                            onBytes = null;
                        }
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
        } else if (failure != null) {
            gone(failure);
        } else if (again && !super.tryFillInterested(watch)) {
            gone(new ReadPendingException());
        } else if (bytes != null) {
            bytes.run();
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
