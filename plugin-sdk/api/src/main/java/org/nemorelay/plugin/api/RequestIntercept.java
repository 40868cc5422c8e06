package org.nemorelay.plugin.api;

import java.util.concurrent.CompletionStage;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Rewrites model requests (plugins.md 4.1). Intercepts run after every guardrail has allowed the request, each on what the
 * one before it made. Headers and body may change; API, path and whether the answer is a stream may not. Names that begin
 * with {@code x-nemo-relay-} never leave the relay.
 *
 * <p>It fails closed: when it throws, completes its stage exceptionally or with {@code null}, or takes more than 5 seconds,
 * the request is answered with status 500 and goes nowhere. Threading as with {@link RequestGuardrail}.
 */
@ConsumerType
public interface RequestIntercept {
    /** The request to go on with, the same one where nothing is to be changed; the stage completes on any thread. */
    CompletionStage<ModelRequest> rewrite(ModelRequest request) throws Exception;

    /** Whether {@link #rewrite} reads the body. The relay then holds the request until it has read it. Read once. */
    default boolean needsBody() {
        return false;
    }

    /** Lower ones come first; among equals the order is that of the plugins' kinds. Read once, when the plugin starts. */
    default int priority() {
        return 100;
    }
}
