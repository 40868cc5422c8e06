package org.nemorelay.broker;

import java.util.Locale;

/** The answer to {@code cancel_activation} (relay-daemon 5.3). */
public enum CancelOutcome {
    CANCELLED,
    PUBLISHED,
    SUPERSEDED;

    private final String word = name().toLowerCase(Locale.ROOT);

    public String word() {
        return word;
    }
}
