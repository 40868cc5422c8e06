package org.nemorelay.http.internal;

import java.util.List;
import org.eclipse.jetty.client.AbstractConnectionPool;
import org.eclipse.jetty.client.HttpClient;
import org.eclipse.jetty.client.Origin;
import org.eclipse.jetty.client.transport.HttpDestination;
import org.eclipse.jetty.client.transport.HttpExchange;

/**
 * Where requests wait for connections to one server. Each has one opened, and takes the first that is there; one that fails
 * is the failure of the request that has waited longest, where Jetty has it fail all that wait.
 */
class UpstreamDestination extends HttpDestination {
    UpstreamDestination(HttpClient client, Origin origin) {
        super(client, origin);
    }

    @Override
    public void failed(Throwable cause) {
        AbstractConnectionPool pool = (AbstractConnectionPool) getConnectionPool();
        List<HttpExchange> waiting = List.copyOf(getHttpExchanges());
        waiting.subList(0, affected(waiting.size(), pool))
                .forEach(exchange -> exchange.getRequest().abort(cause));
        // Opens another for whoever nevertheless has none.
        succeeded();
    }

    /** How many of those that wait had no connection to come but this. */
    private static int affected(int waiting, AbstractConnectionPool pool) {
        int attempts = pool.getPendingConnectionCount();
        if (waiting <= attempts) {
            return 0;
        }
        // Where no more may be opened, several wait for each.
        boolean full = pool.getConnectionCount() + 1 >= pool.getMaxConnectionCount();
        return full ? Math.ceilDiv(waiting, attempts + 1) : 1;
    }
}
