package org.nemorelay.pluginhost.internal;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.nemorelay.pluginhost.PluginHost;

/**
 * Tells when the last request that may still use an earlier snapshot has ended. Requests enter the epoch that is current;
 * each change begins a new one. Safe for any thread; entering and leaving are one atomic step each.
 */
final class Epochs {
    private volatile Epoch current = new Epoch();
    private CompletableFuture<Void> earlier = CompletableFuture.completedFuture(null);

    /** A request begins; closing what is returned ends it, once however often it is closed. */
    PluginHost.Use enter() {
        while (true) {
            Epoch epoch = current;
            if (epoch.enter()) {
                return new Entered(epoch);
            }
        }
    }

    /** Begins a new epoch. Completes, on the thread of the last request, when all that entered an earlier one have ended. */
    synchronized CompletableFuture<Void> advance() {
        Epoch ended = current;
        current = new Epoch();
        earlier = CompletableFuture.allOf(earlier, ended.empty());
        return earlier;
    }

    private static final class Epoch {
        private static final long CLOSED = Long.MIN_VALUE;

        /** Requests in it; CLOSED is added when no more may enter. */
        private final AtomicLong requests = new AtomicLong();

        private final CompletableFuture<Void> empty = new CompletableFuture<>();

        boolean enter() {
            if (requests.incrementAndGet() > 0) {
                return true;
            }
            leave();
            return false;
        }

        void leave() {
            if (requests.decrementAndGet() == CLOSED) {
                empty.complete(null);
            }
        }

        CompletableFuture<Void> empty() {
            if (requests.addAndGet(CLOSED) == CLOSED) {
                empty.complete(null);
            }
            return empty;
        }
    }

    private static final class Entered extends AtomicLong implements PluginHost.Use {
        private static final long serialVersionUID = 1L;

        @SuppressWarnings("serial")
        private final Epoch epoch;

        Entered(Epoch epoch) {
            this.epoch = epoch;
        }

        @Override
        public void close() {
            if (compareAndSet(0, 1)) {
                epoch.leave();
            }
        }
    }
}
