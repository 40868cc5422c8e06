package org.nemorelay.pluginhost;

import java.util.concurrent.CompletableFuture;
import org.nemorelay.plugin.api.Event;
import org.osgi.annotation.versioning.ProviderType;

/** One event subscriber behind its own queue and thread. Safe for any thread; no call blocks. */
@ProviderType
public interface EventSink {
    /** Hands over an event; a full queue drops it, counts it and says so in the log. */
    void publish(Event event);

    /** Completes when the subscriber has taken everything published before the call, or is gone. */
    CompletableFuture<Void> taken();

    /** Completes when the subscriber has taken and flushed everything published before the call, or is gone. */
    CompletableFuture<Void> flush();
}
