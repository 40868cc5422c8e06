package org.nemorelay.pluginhost;

import java.util.List;
import java.util.Optional;

/**
 * What the policies say to a tool call together. Immutable.
 *
 * @param judgements of the policies that were asked, in that order; only the last one can be a denial
 */
public record Ruling(List<Judgement> judgements) {
    /** Of nobody, so the call is allowed. */
    public static final Ruling NONE = new Ruling(List.of());

    public Ruling {
        judgements = List.copyOf(judgements);
    }

    /** Why the call must not be made; empty when it may. */
    public Optional<String> denial() {
        return judgements.isEmpty() ? Optional.empty() : judgements.getLast().denial();
    }

    /** Why the agent's user is to be asked, by the first policy that wants that; empty where the call is denied. */
    public Optional<String> question() {
        return denial().isPresent()
                ? Optional.empty()
                : judgements.stream()
                        .flatMap(judgement -> judgement.question().stream())
                        .findFirst();
    }
}
