package org.nemorelay.http;

import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;

/**
 * A handler that another one takes the place of while requests run: each request ends with the one that it began with.
 * Neither is started or stopped, so they hold no resources of their own.
 */
public final class LiveHandler extends Handler.Abstract.NonBlocking {
    private volatile Request.Handler current;

    public LiveHandler(Request.Handler first) {
        this.current = first;
    }

    /** Requests that arrive from now on are this one's. */
    public void use(Request.Handler next) {
        current = next;
    }

    @Override
    public boolean handle(Request request, Response response, Callback callback) throws Exception {
        return current.handle(request, response, callback);
    }
}
