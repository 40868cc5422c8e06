package org.nemorelay.broker;

import java.util.Locale;

/** The six states of a route (relay-daemon 5.1). */
public enum RouteState {
    EMPTY,
    ACTIVATING,
    READY,
    DRAINING,
    PASS_THROUGH,
    RECOVERING;

    private final String word = name().toLowerCase(Locale.ROOT);

    /** The word that stands in status answers. */
    public String word() {
        return word;
    }
}
