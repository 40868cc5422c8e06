package org.nemorelay.plugin.api;

import java.util.concurrent.CompletionStage;
import org.osgi.annotation.versioning.ConsumerType;

/**
 * Decides whether a coding agent may make a tool call, asked through the agent's hook before the call is made (plugins.md
 * 5). All policies must agree: the first denial stands, in the order of {@link #priority()}, and those behind it are not
 * asked. A question ({@link Decision.Ask}) stands where nobody denies. The relay writes the decision in the agent's own
 * schema.
 *
 * <p>It fails closed. A policy that throws, that completes its stage exceptionally or with {@code null}, or that has not
 * decided after 5 seconds denies the call, and the reason names the plugin. Policies share 15 seconds for one call,
 * because the agent's own patience ends soon after. A hook that may be about a call and cannot be read (no JSON object, no
 * event, no tool, too large) is denied without asking.
 *
 * <p>Threading: {@link #decide} is called on up to eight threads of this plugin's own at once, so it may block; what takes
 * long is better left to the stage that it returns. After 5 seconds the thread is interrupted.
 */
@ConsumerType
public interface HookPolicy {
    /**
     * Decides about one call.
     *
     * @return a stage that completes with the decision, on any thread; {@link Decision#allow()} and {@link Decision#deny}
     *     make a decision that is known at once, {@code CompletableFuture.completedStage} the stage
     */
    CompletionStage<Decision> decide(ToolCall call) throws Exception;

    /** Lower ones are asked first; among equals the order is that of the plugins' kinds. Read once, when the plugin starts. */
    default int priority() {
        return 100;
    }
}
