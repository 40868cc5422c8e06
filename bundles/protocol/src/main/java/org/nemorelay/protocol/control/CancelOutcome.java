package org.nemorelay.protocol.control;

import java.util.Optional;

/** What became of an activation that its owner cancels. */
public enum CancelOutcome {
    CANCELLED("cancelled"),
    PUBLISHED("published"),
    SUPERSEDED("superseded");

    private final String word;

    CancelOutcome(String word) {
        this.word = word;
    }

    public String word() {
        return word;
    }

    static Optional<CancelOutcome> of(String word) {
        for (CancelOutcome outcome : values()) {
            if (outcome.word.equals(word)) {
                return Optional.of(outcome);
            }
        }
        return Optional.empty();
    }
}
