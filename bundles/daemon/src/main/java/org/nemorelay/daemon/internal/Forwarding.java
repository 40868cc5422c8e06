package org.nemorelay.daemon.internal;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.nemorelay.http.ExchangeListener;

/**
 * What is being forwarded: a daemon that stops tells how much that is, and what goes to a worker is cut when its drain
 * deadline has passed, as a worker that hangs ends nothing by itself. Safe for any thread.
 */
final class Forwarding {
    private final Set<ExchangeListener> running = ConcurrentHashMap.newKeySet();

    void begin(ExchangeListener exchange) {
        running.add(exchange);
    }

    void end(ExchangeListener exchange) {
        running.remove(exchange);
    }

    /** Ends all that still goes to this worker as if it had broken off. */
    void cut(String workerId) {
        for (ExchangeListener exchange : running) {
            if (exchange instanceof WorkerExchange worker && worker.workerId().equals(workerId)) {
                worker.cut();
            }
        }
    }

    int requests() {
        return running.size();
    }
}
