package org.nemorelay.http.internal;

import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * What becomes of {@code Expect: 100-continue}: a client that waits for its provider does so for a while at most, and
 * one that sends its body without waiting is not kept.
 */
final class Expectation {
    /** A provider that answers no {@code Expect} gets the body after this long; that client waits, too. */
    private static final long PATIENCE_MS = 200;

    private final ProxyExchange exchange;
    private final UpstreamClient.UpstreamRequest upstream;
    private final Scheduler scheduler;
    private volatile boolean committed;
    private volatile boolean bodyIsHere;

    Expectation(
            ProxyExchange exchange, UpstreamClient.UpstreamRequest upstream, Scheduler scheduler, boolean bodyIsHere) {
        this.exchange = exchange;
        this.upstream = upstream;
        this.scheduler = scheduler;
        this.bodyIsHere = bodyIsHere;
    }

    /** The client has begun to send. */
    void bodyArrived() {
        bodyIsHere = true;
        if (committed) {
            proceed();
        }
    }

    /** Upstream has been sent the head. */
    void headLeft() {
        committed = true;
        if (bodyIsHere) {
            proceed();
        } else {
            scheduler.schedule(this::proceed, PATIENCE_MS, TimeUnit.MILLISECONDS);
        }
    }

    private void proceed() {
        if (exchange.undecided()) {
            var current = upstream.getConversation().getExchanges().peekLast();
            if (current != null) {
                current.proceed(null, null);
            }
        }
    }
}
