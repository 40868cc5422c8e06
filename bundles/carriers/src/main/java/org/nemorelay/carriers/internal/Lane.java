package org.nemorelay.carriers.internal;

import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import org.nemorelay.seams.NoCarrierException;
import org.nemorelay.seams.carrier.Carrier;

/** Seams that change carriers together. A call keeps the carrier that it began with. Safe for any thread. */
final class Lane {
    private final String what;
    private final Standing standing = new Standing();
    private final Map<Carrier, Integer> leases = new IdentityHashMap<>();
    private Optional<Carrier> current = Optional.empty();

    Lane(String what) {
        this.what = what;
    }

    Standing standing() {
        return standing;
    }

    synchronized Optional<Carrier> current() {
        return current;
    }

    /** New calls take this one from now on. */
    synchronized void set(Optional<Carrier> next) {
        current = next;
    }

    /** Runs a call on the current carrier; {@link NoCarrierException} at once without one. */
    <R> R call(Function<Carrier, R> call) {
        Carrier carrier = lease();
        try {
            return call.apply(carrier);
        } finally {
            giveBack(carrier);
        }
    }

    void run(Consumer<Carrier> call) {
        call(carrier -> {
            call.accept(carrier);
            return carrier;
        });
    }

    synchronized Carrier lease() {
        Carrier carrier = current.orElseThrow(() -> new NoCarrierException(
                "no carrier for " + what + ": the one that [distributed] carrier names is not there"));
        leases.merge(carrier, 1, Integer::sum);
        return carrier;
    }

    synchronized void giveBack(Carrier carrier) {
        leases.computeIfPresent(carrier, (key, count) -> count == 1 ? null : count - 1);
        notifyAll();
    }

    /** Waits for the calls that a carrier has begun; whether they have ended. */
    synchronized boolean awaitLeases(Carrier carrier, Duration bound) {
        long end = System.nanoTime() + bound.toNanos();
        try {
            while (leases.containsKey(carrier)) {
                long left = end - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                wait(left / 1_000_000 + 1);
            }
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
