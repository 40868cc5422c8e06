package org.nemorelay.pipeline;

import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.nemorelay.plugin.api.ModelRequest;

/**
 * What guardrails and request intercepts make of a request.
 *
 * @param checks of the guardrails that were asked, in that order
 */
public record Clearance(Verdict verdict, List<Check> checks) {
    public Clearance {
        checks = List.copyOf(checks);
    }

    /** Whether the request goes on. */
    public sealed interface Verdict {
        /** With this request. */
        record Go(ModelRequest request) implements Verdict {}

        /** Not at all. */
        record Refused(Refusal refusal) implements Verdict {}
    }

    /**
     * What one guardrail said.
     *
     * @param denial its reason; empty where it allowed
     * @param failure why it said nothing, which refuses the request
     */
    public record Check(
            String plugin, Instant begun, Instant ended, Optional<String> denial, Optional<String> failure) {}
}
