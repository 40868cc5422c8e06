package org.nemorelay.broker;

/** A token of a route. */
final class Binding {
    final Route route;

    /** Sessions that hold a reference with this token; written under the broker's lock, read by requests. */
    volatile int sessions;

    Binding(Route route) {
        this.route = route;
    }
}
