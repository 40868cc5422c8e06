package org.nemorelay.http.internal;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.http2.HTTP2Connection;
import org.eclipse.jetty.http2.frames.PingFrame;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Asks a silent server on another machine, over HTTP/2, whether it is still there, and gives its connection up when nothing
 * at all comes while requests are under way (relay-daemon 6.4). {@link KeepAlive} does not see a path that was cut under a
 * request: while sent bytes wait for their acknowledgement the kernel asks nothing, and sends them again for a quarter of an
 * hour. An unused connection is the kernel's to watch: to ask on it would keep it from ending.
 */
final class SilenceWatch implements Runnable {
    /**
     * How long, in rounds.
     *
     * @param roundMs between two looks; rounds are counted and not time, because what came while this process stood still is
     *     not read yet when it goes on
     * @param ask after so many without a byte it is asked, in each
     * @param giveUp after so many the connection ends
     */
    record Patience(long roundMs, int ask, int giveUp) {
        /** Asked after 15 s, given up after 40 s, as a control connection: a link that is cut for half a minute costs nothing. */
        static final Patience USUAL = new Patience(5_000, 3, 8);
    }

    private final HTTP2Connection connection;
    private final EndPoint socket;
    private final Scheduler scheduler;
    private final Patience patience;
    private long received;
    private int silent;

    private SilenceWatch(HTTP2Connection connection, EndPoint socket, Scheduler scheduler, Patience patience) {
        this.connection = connection;
        this.socket = socket;
        this.scheduler = scheduler;
        this.patience = patience;
    }

    /** Watches a connection until it ends. */
    static void start(HTTP2Connection connection, Scheduler scheduler, Patience patience) {
        EndPoint endPoint = connection.getEndPoint();
        EndPoint socket = endPoint instanceof SslConnection.SslEndPoint tls
                ? tls.getSslConnection().getEndPoint()
                : endPoint;
        new SilenceWatch(connection, socket, scheduler, patience).next();
    }

    private void next() {
        scheduler.schedule(this, patience.roundMs(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void run() {
        if (!socket.isOpen()) {
            return;
        }
        long now = connection.getBytesIn();
        silent = now == received && !connection.getSession().getStreams().isEmpty() ? silent + 1 : 0;
        received = now;
        if (silent >= patience.giveUp()) {
            IOException failure = new IOException(
                    "it was silent for " + patience.giveUp() * patience.roundMs() / 1_000 + " s, though asked");
            connection.getSession().onWriteFailure(failure);
            // Nothing may wait for a last word to go out.
            socket.close(failure);
            return;
        }
        if (silent >= patience.ask()) {
            connection.getSession().ping(new PingFrame(silent, false), Callback.NOOP);
        }
        next();
    }
}
