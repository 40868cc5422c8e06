package org.nemorelay.plugin.api;

import java.util.concurrent.CompletionStage;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Decides whether a model request may be sent (plugins.md 4.1, "conditional"). Guardrails are asked before every other
 * stage, about the request as the agent made it, one after the other; the first denial stands. The agent gets status 403 and
 * the reason, in its API's form.
 *
 * <p>It fails closed: when it throws, completes its stage exceptionally or with {@code null}, or takes more than 5 seconds,
 * the request is answered with status 500 and goes nowhere. {@link Decision.Ask} is a denial here: nobody can be asked.
 *
 * <p>Threading: called on the plugin's own share of threads, eight calls at once at most, so it may block; what takes long
 * is better left to the stage that it returns. After 5 seconds the thread is interrupted.
 */
@ConsumerType
public interface RequestGuardrail {
    /** Decides about one request, the stage completing on any thread. */
    CompletionStage<Decision> check(ModelRequest request) throws Exception;

    /** Whether {@link #check} reads the body. The relay then holds the request until it has read it. Read once. */
    default boolean needsBody() {
        return false;
    }

    /** Lower ones come first; among equals the order is that of the plugins' kinds. Read once, when the plugin starts. */
    default int priority() {
        return 100;
    }
}
