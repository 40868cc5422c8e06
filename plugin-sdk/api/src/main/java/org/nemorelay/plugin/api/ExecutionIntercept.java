package org.nemorelay.plugin.api;

import java.util.concurrent.CompletionStage;
import org.osgi.annotation.versioning.ConsumerType;
import org.osgi.annotation.versioning.ProviderType;

/**
 * Wraps the execution of a model request: it may answer by itself, send the request on with {@link Next}, more than once if
 * it likes, and change the answer (plugins.md 4.1). The one with the lowest priority is the outermost.
 *
 * <p>A streamed answer is given as {@link ModelResponse.Streamed} when its head is here; it stays a stream, event for event
 * as the provider sends it, and {@link ModelResponse.Streamed#through} hangs a handler into it. Any other answer is read as
 * a whole first.
 *
 * <p>It fails closed: when it throws, or completes its stage exceptionally or with {@code null}, the agent gets status 500.
 * Its 5 seconds do not run while a {@link Next} that it has called is under way. Threading as with {@link
 * RequestGuardrail}.
 */
@ConsumerType
public interface ExecutionIntercept {
    /** The way on: the next intercept, or the provider. Good until the stage that {@link #execute} returned completes. */
    @ProviderType
    @FunctionalInterface
    interface Next {
        /**
         * Sends the request on. A provider's error is an answer; the stage completes exceptionally where there is none.
         * An answer that is not handed on is given up when the intercept is done.
         */
        CompletionStage<ModelResponse> proceed(ModelRequest request);
    }

    /** The answer for the agent, the stage completing on any thread. */
    CompletionStage<ModelResponse> execute(ModelRequest request, Next next) throws Exception;

    /** Whether {@link #execute} reads or changes the request's body. Read once. */
    default boolean needsBody() {
        return false;
    }

    /** Lower ones come first; among equals the order is that of the plugins' kinds. Read once, when the plugin starts. */
    default int priority() {
        return 100;
    }
}
