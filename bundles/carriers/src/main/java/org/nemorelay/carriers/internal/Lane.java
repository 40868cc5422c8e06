package org.nemorelay.carriers.internal;

import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Function;
import org.nemorelay.seams.NoCarrierException;
import org.nemorelay.seams.carrier.Carrier;

/** Seams that change carriers together. A call keeps the carrier that it began with. Safe for any thread. */
final class Lane {
    private static final long LOOK_NANOS = 100_000;

    private record Use(Carrier carrier, AtomicInteger calls) {}

    private final String what;
    private final Standing standing = new Standing();
    /** The current one, and those that were left while calls ran on them. */
    private final Map<Carrier, Use> uses = new IdentityHashMap<>();

    private volatile Optional<Use> current = Optional.empty();

    Lane(String what) {
        this.what = what;
    }

    Standing standing() {
        return standing;
    }

    Optional<Carrier> current() {
        return current.map(Use::carrier);
    }

    /** New calls take this one from now on. */
    synchronized void set(Optional<Carrier> next) {
        Optional<Use> now =
                next.map(carrier -> uses.computeIfAbsent(carrier, key -> new Use(key, new AtomicInteger())));
        current = now;
        // Only now: until here a call could begin on the one that is left, and must be seen by who waits for its calls.
        uses.values()
                .removeIf(use -> use.calls().get() == 0
                        && now.filter(kept -> kept == use).isEmpty());
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
        Carrier carrier = lease();
        try {
            call.accept(carrier);
        } finally {
            giveBack(carrier);
        }
    }

    Carrier lease() {
        while (true) {
            Optional<Use> now = current;
            if (now.isEmpty()) {
                throw new NoCarrierException(
                        "no carrier for " + what + ": the one that [distributed] carrier names is not there");
            }
            now.get().calls().incrementAndGet();
            // Who waits for the calls of one that was left may not have seen this one.
            if (current == now) {
                return now.get().carrier();
            }
            now.get().calls().decrementAndGet();
        }
    }

    void giveBack(Carrier carrier) {
        Optional<Use> now = current;
        if (now.isPresent() && now.get().carrier() == carrier) {
            now.get().calls().decrementAndGet();
        } else {
            use(carrier).ifPresent(use -> use.calls().decrementAndGet());
        }
    }

    private synchronized Optional<Use> use(Carrier carrier) {
        return Optional.ofNullable(uses.get(carrier));
    }

    /** Waits for the calls that a carrier which was left has begun; whether they have ended. */
    boolean awaitLeases(Carrier carrier, Duration bound) {
        long end = System.nanoTime() + bound.toNanos();
        while (use(carrier).filter(use -> use.calls().get() > 0).isPresent()) {
            if (System.nanoTime() - end > 0) {
                return false;
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
        return true;
    }
}
