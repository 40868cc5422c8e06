package org.nemorelay.daemon.internal;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What is being forwarded to workers, so that it can be cut when a worker's drain deadline has passed: a worker that hangs
 * ends nothing by itself. Safe for any thread.
 */
final class Forwarding {
    private final Set<WorkerExchange> running = ConcurrentHashMap.newKeySet();

    void begin(WorkerExchange exchange) {
        running.add(exchange);
    }

    void end(WorkerExchange exchange) {
        running.remove(exchange);
    }

    /** Ends all that still goes to this worker as if it had broken off. */
    void cut(String workerId) {
        for (WorkerExchange exchange : running) {
            if (exchange.workerId().equals(workerId)) {
                exchange.cut();
            }
        }
    }
}
