package org.nemorelay.seams.carrier;

import java.time.Duration;
import java.util.List;

/** The bounds of the control verbs (distributed-seams 4.1), each positive. */
public record ControlTimeouts(
        Duration install,
        Duration upgrade,
        Duration stop,
        Duration delete,
        Duration list,
        Duration running,
        Duration unload,
        Duration modelStop,
        Duration operation,
        Duration ping,
        Duration transfer,
        Duration files) {
    /** Renewals come this often, so an operation call that takes longer is of no use. */
    public static final Duration RENEWAL_CADENCE = Duration.ofSeconds(5);

    public ControlTimeouts {
        for (Duration bound : List.of(
                install, upgrade, stop, delete, list, running, unload, modelStop, operation, ping, transfer, files)) {
            if (bound.isNegative() || bound.isZero()) {
                throw new IllegalArgumentException("every control call needs a positive bound, not " + bound);
            }
        }
        if (operation.compareTo(RENEWAL_CADENCE) > 0) {
            throw new IllegalArgumentException(
                    "an operation call may take " + RENEWAL_CADENCE + " at most, not " + operation);
        }
    }

    public static ControlTimeouts standard() {
        return new ControlTimeouts(
                Duration.ofMinutes(15),
                Duration.ofMinutes(15),
                Duration.ofSeconds(15),
                Duration.ofMinutes(2),
                Duration.ofSeconds(30),
                Duration.ofSeconds(10),
                Duration.ofSeconds(30),
                Duration.ofSeconds(10),
                RENEWAL_CADENCE,
                Duration.ofSeconds(5),
                Duration.ofMinutes(10),
                Duration.ofSeconds(30));
    }

    /** The standard bounds, none longer than {@code bound}. */
    public static ControlTimeouts atMost(Duration bound) {
        ControlTimeouts s = standard();
        return new ControlTimeouts(
                min(s.install, bound),
                min(s.upgrade, bound),
                min(s.stop, bound),
                min(s.delete, bound),
                min(s.list, bound),
                min(s.running, bound),
                min(s.unload, bound),
                min(s.modelStop, bound),
                min(s.operation, bound),
                min(s.ping, bound),
                min(s.transfer, bound),
                min(s.files, bound));
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }
}
