package org.nemorelay.plugin.api;

import org.osgi.annotation.versioning.ConsumerType;

/**
 * Hangs a {@link StreamHandler} into every answer that comes as a stream (plugins.md 4.1). Events go through the handlers
 * from the lowest priority to the highest. An answer that is no stream, such as an error, passes by.
 *
 * <p>It fails closed: when {@link #open} throws or returns {@code null}, or takes more than 5 seconds, the agent gets status
 * 500. Threading as with {@link RequestGuardrail}.
 */
@ConsumerType
public interface StreamIntercept {
    /**
     * The handler of one stream, called when the head of the answer is here.
     *
     * @param request as it was sent
     * @param response its head
     */
    StreamHandler open(ModelRequest request, ModelResponse.Streamed response) throws Exception;

    /** Whether {@link #open} reads the request's body. Read once. */
    default boolean needsBody() {
        return false;
    }

    /** Lower ones come first; among equals the order is that of the plugins' kinds. Read once, when the plugin starts. */
    default int priority() {
        return 100;
    }
}
