package org.nemorelay.plugin.api;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Takes one streamed answer event by event: passes on, holds back, changes, drops, adds, ends. One handler serves one
 * stream; its methods are called one at a time, on the plugin's threads.
 *
 * <p>Nothing that it keeps is lost to the agent by itself: what it held back it emits later, in {@link #onEnd} at the
 * latest. It fails closed: when it throws, completes a stage exceptionally, or takes more than 5 seconds for one call, the
 * agent gets an error event of its API, and the stream ends.
 */
@ConsumerType
public interface StreamHandler {
    /** What a method returns that has done its work. */
    CompletionStage<Void> DONE = CompletableFuture.completedStage(null);

    /**
     * One event of the provider, or of the handler before this one.
     *
     * @return {@link #DONE}, or a stage that the next event waits for: the provider is read no faster than this
     */
    CompletionStage<Void> onEvent(StreamEvent event, StreamOutput out) throws Exception;

    /** The provider's answer is complete, and every event was given. Not called for a stream that broke off. */
    default CompletionStage<Void> onEnd(StreamOutput out) throws Exception {
        return DONE;
    }

    /** The stream is over, however it ended; called once, last. A call that was given up may still run then. */
    default void onClose() throws Exception {}
}
