package org.nemorelay.seams;

import java.time.Duration;
import java.util.function.Consumer;
import org.osgi.annotation.versioning.ProviderType;

/**
 * Fan-out (distributed-seams 2). Delivery is at most once: a subscriber that is reconnecting misses messages, silence is
 * no evidence about a node, and what must survive a gap belongs in a table. Pinned by {@code BroadcasterConformance}.
 */
@ProviderType
public interface Broadcaster extends Publisher {
    /**
     * Hands every message that matches to {@code handler}, one at a time and in order, on a thread of this subscription:
     * a slow handler delays only itself. What it throws is logged and the subscription goes on. The subscription is
     * confirmed when this returns, except while the link is down: then it attaches when the link is back.
     *
     * @param subject may have whole tokens {@code *} after the root, each matching exactly one token
     * @throws SubjectException before the transport is touched
     * @throws PermissionDeniedException when the transport denies this subject; nothing stands then
     */
    Subscription subscribe(String subject, Consumer<Message> handler);

    /**
     * Returns when the transport has taken everything that was published before.
     *
     * @throws TimedOutException when it has not within {@code bound}
     */
    void flush(Duration bound);

    /** Runs {@code action} after each return of the link, so that derived state can be rebuilt. It may register another. */
    Registration onReconnect(Runnable action);
}
