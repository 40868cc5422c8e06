package org.nemorelay.http.internal;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.ManagedSelector;
import org.eclipse.jetty.io.SocketChannelEndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * A client connection whose idle timeout counts only while it lies in the pool. Jetty sets a request's own timeout when
 * it takes an HTTP/1.1 connection and restores the old one when it gives it back: that is the signal here, without the
 * two timer operations per request which the real thing costs.
 */
final class UpstreamEndPoint extends SocketChannelEndPoint {
    /** The idle timeout of a request, in milliseconds: never, in effect. */
    static final long IN_USE = Long.MAX_VALUE / 2;

    /** How long what was received before a write failed has for being read; it lies in the socket. */
    private static final long LAST_WORDS_MS = 2_000;

    private final Scheduler scheduler;
    private volatile boolean inUse;
    private volatile boolean broken;

    UpstreamEndPoint(SocketChannel channel, ManagedSelector selector, SelectionKey key, Scheduler scheduler) {
        super(channel, selector, key, scheduler);
        this.scheduler = scheduler;
    }

    /**
     * A server that answers early and closes fails the rest of the upload, while its answer lies here unread. Such a write
     * stays pending: reading comes upon the answer, and then upon the connection's end, which ends the write too.
     */
    @Override
    public boolean flush(ByteBuffer... buffers) throws IOException {
        if (broken) {
            return false;
        }
        try {
            return super.flush(buffers);
        } catch (IOException e) {
            if (!isOpen() || isInputShutdown()) {
                throw e;
            }
            broken = true;
            scheduler.schedule(() -> close(e), LAST_WORDS_MS, TimeUnit.MILLISECONDS);
            return false;
        }
    }

    @Override
    protected void onIncompleteFlush() {
        if (!broken) {
            super.onIncompleteFlush();
        }
    }

    @Override
    public void setIdleTimeout(long timeoutMs) {
        if (timeoutMs == IN_USE) {
            inUse = true;
        } else if (timeoutMs == getIdleTimeout()) {
            inUse = false;
            notIdle();
        } else {
            super.setIdleTimeout(timeoutMs);
        }
    }

    @Override
    protected void onIdleExpired(TimeoutException timeout) {
        Connection connection = getConnection() instanceof SslConnection tls
                ? tls.getSslEndPoint().getConnection()
                : getConnection();
        boolean streams = connection instanceof HTTP2Connection http2
                && !http2.getSession().getStreams().isEmpty();
        if (!inUse && !streams) {
            super.onIdleExpired(timeout);
        }
    }
}
