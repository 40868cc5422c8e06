package org.nemorelay.broker;

import java.util.Locale;

/** How a worker came to be staged. */
public enum Publication {
    /** By a launch grant. */
    ACTIVATION,
    /** By its signed generation, after a lost control connection or a restart of the daemon. */
    RECOVERY;

    private final String word = name().toLowerCase(Locale.ROOT);

    public String word() {
        return word;
    }
}
