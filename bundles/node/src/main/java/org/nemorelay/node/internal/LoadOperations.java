package org.nemorelay.node.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Loads that a frontend has begun here (distributed-seams 4.8). One whose frontend no longer renews it, or whose deadline
 * has passed, is abandoned: its process is ended unless it serves by then. Safe for any thread.
 */
final class LoadOperations implements AutoCloseable {
    /** A frontend renews every 5 s. */
    static final Duration RENEWAL = Duration.ofSeconds(90);

    private static final Duration DEADLINE = Duration.ofMinutes(45);
    private static final long TICK_SECONDS = 1;

    /** Ends the process of a key whose load nobody waits for any more, unless it serves. */
    @FunctionalInterface
    interface Abandon {
        void of(String key);
    }

    private static final class Operation {
        private final String id;
        private final String key;
        private final long deadline;
        private long renewed;

        private Operation(String id, String key, long deadline, long renewed) {
            this.id = id;
            this.key = key;
            this.deadline = deadline;
            this.renewed = renewed;
        }

        private boolean over(long now) {
            return now - deadline >= 0 || !id.isEmpty() && now - renewed >= RENEWAL.toNanos();
        }
    }

    private final Abandon abandon;
    private final LongSupplier nanos;
    /** By key: a process belongs to one load at a time. */
    private final Map<String, Operation> operations = new HashMap<>();

    private final ScheduledExecutorService ticks = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("load-operations").factory());

    LoadOperations(Abandon abandon, LongSupplier nanos) {
        this.abandon = abandon;
        this.nanos = nanos;
    }

    /** Looks every second from now on. */
    void start() {
        ticks.scheduleWithFixedDelay(this::tick, TICK_SECONDS, TICK_SECONDS, TimeUnit.SECONDS);
    }

    /**
     * A load begins, or is asked for again.
     *
     * @param id empty for one that is bounded by its deadline alone
     * @param deadlineMs relative, in milliseconds; 0 for 45 minutes
     */
    synchronized void begin(String id, String key, long deadlineMs) {
        Operation before = operations.get(key);
        if (before != null && !id.isEmpty() && before.id.equals(id)) {
            return;
        }
        long now = nanos.getAsLong();
        long length = deadlineMs > 0
                ? TimeUnit.MILLISECONDS.toNanos(Math.min(deadlineMs, DEADLINE.toMillis()))
                : DEADLINE.toNanos();
        operations.put(key, new Operation(id, key, now + length, now));
    }

    /** The load of this key came to nothing. */
    synchronized void failed(String key) {
        operations.remove(key);
    }

    /** The ids that are known, each good for another {@link #RENEWAL}. */
    synchronized List<String> renew(List<String> ids) {
        List<String> known = new ArrayList<>();
        for (String id : ids) {
            named(id).ifPresent(operation -> {
                operation.renewed = nanos.getAsLong();
                known.add(id);
            });
        }
        return known;
    }

    /** These loads are over; what they loaded serves. */
    synchronized void complete(List<String> ids) {
        for (String id : ids) {
            named(id).ifPresent(operation -> operations.remove(operation.key));
        }
    }

    private Optional<Operation> named(String id) {
        return operations.values().stream()
                .filter(operation -> !id.isEmpty() && operation.id.equals(id))
                .findFirst();
    }

    /** The key that a load is of. */
    synchronized Optional<String> key(String id) {
        return named(id).map(operation -> operation.key);
    }

    /** The load that a key is in; empty text for none, or one without an id. */
    synchronized String id(String key) {
        Operation operation = operations.get(key);
        return operation == null ? "" : operation.id;
    }

    /** Abandons what is over. */
    void tick() {
        List<String> over = new ArrayList<>();
        synchronized (this) {
            long now = nanos.getAsLong();
            operations.values().removeIf(operation -> {
                if (operation.over(now)) {
                    over.add(operation.key);
                    return true;
                }
                return false;
            });
        }
        // One that takes its time to end holds up no other.
        over.forEach(key -> Thread.ofVirtual().name("abandoned load of " + key).start(() -> abandon.of(key)));
    }

    @Override
    public void close() {
        ticks.shutdownNow();
    }
}
