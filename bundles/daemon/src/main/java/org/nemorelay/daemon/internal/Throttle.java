package org.nemorelay.daemon.internal;

import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/** At most one event per key in 10 s; says how many were left out since the last one. Safe for any thread. */
final class Throttle {
    private static final long INTERVAL_MS = 10_000;

    private final ConcurrentHashMap<String, Slot> slots = new ConcurrentHashMap<>();

    private static final class Slot {
        boolean open = true;
        long lastAt;
        long suppressed;
    }

    /** The number of suppressed events when this one is to be logged; empty when it is suppressed itself. */
    OptionalLong pass(String key, long now) {
        Slot slot = slots.computeIfAbsent(key, unused -> new Slot());
        synchronized (slot) {
            if (!slot.open && now - slot.lastAt < INTERVAL_MS) {
                slot.suppressed++;
                return OptionalLong.empty();
            }
            long suppressed = slot.suppressed;
            slot.open = false;
            slot.lastAt = now;
            slot.suppressed = 0;
            return OptionalLong.of(suppressed);
        }
    }
}
