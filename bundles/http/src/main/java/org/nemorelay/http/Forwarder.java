package org.nemorelay.http;

import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.nemorelay.http.internal.WatchedEndPoint;
import org.osgi.annotation.versioning.ProviderType;

/** Streams one request to another HTTP server and its response back (relay-daemon 6.3 to 6.6). */
@ProviderType
public interface Forwarder {
    /**
     * Takes over the exchange and returns at once; nothing blocks, and bytes move as either side's demand allows. The
     * request is submitted at most once. What happened is told to {@code listener.end}, exactly once, when the server's
     * callback is about to complete.
     *
     * @param failures answers a request whose response head never came; it must complete the callback
     */
    void forward(
            Request request,
            Response response,
            Callback callback,
            Destination destination,
            ExchangeListener listener,
            FailureAnswer failures);

    /**
     * Has the client's leaving noticed from now on, as {@link #forward} does by itself: for a request that is forwarded later
     * and on another thread, which would have to wake the connection's. To be called on that one.
     */
    static void watch(Request request) {
        WatchedEndPoint.of(request).ifPresent(WatchedEndPoint::watch);
    }
}
