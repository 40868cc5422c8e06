package org.nemorelay.pluginhost;

import java.time.Instant;
import java.util.Optional;

/**
 * What came of asking one policy about one tool call.
 *
 * @param plugin its kind
 */
public record Judgement(String plugin, Instant begun, Instant ended, Verdict verdict) {
    /** The policy's word, or that there is none. */
    public sealed interface Verdict {
        record Allowed() implements Verdict {}

        record Denied(String reason) implements Verdict {}

        /** The agent's user shall decide. */
        record Asked(String reason) implements Verdict {}

        /**
         * It did not decide, which denies the call.
         *
         * @param reason for the agent; names the plugin and nothing that the plugin said
         */
        record Failed(String reason) implements Verdict {}
    }

    /** Why the call must not be made; empty when this policy lets it pass. */
    public Optional<String> denial() {
        return switch (verdict) {
            case Verdict.Allowed(), Verdict.Asked(String _) -> Optional.empty();
            case Verdict.Denied(String reason) -> Optional.of(reason);
            case Verdict.Failed(String reason) -> Optional.of(reason);
        };
    }

    /** Why the agent's user is to be asked; empty when this policy does not want that. */
    public Optional<String> question() {
        return verdict instanceof Verdict.Asked(String reason) ? Optional.of(reason) : Optional.empty();
    }
}
