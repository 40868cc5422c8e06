package org.nemorelay.carriers.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.nemorelay.carriers.Carriers;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.AbsentException;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.Seam;

/**
 * Moves the facades to the carrier that is wanted whenever it is there. Nothing ever moves to a carrier that is not wanted,
 * and what stands stays on the old one until the new one has confirmed it or the old one is gone.
 */
final class Switch implements Carriers {
    private static final Duration FLUSH = Duration.ofSeconds(5);
    /** Long enough for a call that has begun to be sent. */
    private static final Duration BEGUN = Duration.ofSeconds(1);
    /** How long a carrier that goes is asked to wait for what it still runs. */
    private static final Duration LAST = Duration.ofSeconds(10);
    /** How long streams of a carrier that goes may still take. */
    private static final Duration STREAMS = Duration.ofSeconds(30);

    /** How long a carrier that is wanted may take to connect while the one in use is connected. */
    private static final Duration CONNECT = Duration.ofSeconds(5);

    /** For interest to spread between two ends of one network. */
    private static final Duration SPREAD = Duration.ofSeconds(2);

    private static final Duration RETRY = Duration.ofSeconds(1);

    private record Retiring(Carrier carrier, CompletableFuture<Void> drained) {}

    private static final Set<Seam> BUS = Set.of(Seam.FAN_OUT, Seam.QUEUES, Seam.CONTROL, Seam.AGENT_RPC);

    private final Facades facades;
    private final Faults faults;
    private final ScheduledExecutorService switching = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("carriers-switch").factory());
    /** Held by whatever moves; the fields below change only under it. */
    private final ReentrantLock moving = new ReentrantLock();

    private final List<Carrier> present = new CopyOnWriteArrayList<>();
    private final List<Retiring> retiring = new CopyOnWriteArrayList<>();
    private volatile String wanted;
    private volatile String dialler;
    private volatile long switches;
    private volatile Optional<String> failure = Optional.empty();
    private volatile boolean retrying;

    /** @param dialler the carrier for dialling and staging where the wanted one serves neither */
    Switch(Facades facades, String wanted, String dialler, Faults faults) {
        this.facades = facades;
        this.wanted = wanted;
        this.dialler = dialler;
        this.faults = faults;
    }

    /** Another configuration; returns at once. */
    void want(String name, String forDialling) {
        switching.execute(() -> {
            wanted = name;
            dialler = forDialling;
            reconcile();
        });
    }

    /** A carrier has come; returns at once. */
    void come(Carrier carrier) {
        present.add(carrier);
        switching.execute(this::reconcile);
    }

    /** A carrier is about to go: returns when nothing uses it, or after a bounded wait. */
    void go(Carrier carrier) {
        moving.lock();
        try {
            present.remove(carrier);
            reconcile();
            if (facades.bus().current().filter(now -> now == carrier).isPresent()) {
                facades.bus().set(Optional.empty());
                facades.abandon(carrier);
                facades.bus().awaitLeases(carrier, BEGUN);
                faults.warn(
                        "carrier " + carrier.name(),
                        "is gone, and there is no other of this name: calls fail until there is");
            }
            retire(facades.bus(), carrier);
            for (Lane lane : List.of(facades.dial(), facades.staging())) {
                if (lane.current().filter(now -> now == carrier).isPresent()) {
                    lane.set(Optional.empty());
                }
                retire(lane, carrier);
            }
            retiring.stream().filter(last -> last.carrier() == carrier).forEach(last -> await(last, LAST));
        } finally {
            moving.unlock();
        }
        for (Lane lane : List.of(facades.dial(), facades.staging())) {
            if (!lane.awaitLeases(carrier, STREAMS)) {
                faults.warn("carrier " + carrier.name(), "is gone while calls run on it, after " + STREAMS);
            }
        }
    }

    private void await(Retiring last, Duration bound) {
        try {
            last.drained().get(bound.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            faults.warn("carrier " + last.carrier().name(), "still runs handlers after " + bound);
        } catch (ExecutionException e) {
            faults.warn("carrier " + last.carrier().name(), "was left with a failure: " + e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void reconcile() {
        moving.lock();
        try {
            Optional<Carrier> main = named(wanted, BUS);
            main.ifPresent(this::moveBus);
            moveCalls(facades.dial(), Seam.DIAL);
            moveCalls(facades.staging(), Seam.STAGING);
        } catch (RuntimeException e) {
            Optional<String> why = Optional.of(e.getMessage());
            if (!why.equals(failure)) {
                faults.warn("switch to carrier " + wanted, "refused, all stays as it was: " + e.getMessage());
            }
            failure = why;
            retryLater();
        } finally {
            moving.unlock();
        }
    }

    /** What was refused may be granted later: a link comes up, a permission is given. */
    private void retryLater() {
        if (!retrying && !switching.isShutdown()) {
            retrying = true;
            switching.schedule(
                    () -> {
                        retrying = false;
                        reconcile();
                    },
                    RETRY.toMillis(),
                    TimeUnit.MILLISECONDS);
        }
    }

    /** The carrier of this name that serves one of the seams; the one in use is kept while it is there. */
    private Optional<Carrier> named(String name, Set<Seam> seams) {
        List<Carrier> candidates = present.stream()
                .filter(carrier ->
                        carrier.name().equals(name) && carrier.seams().stream().anyMatch(seams::contains))
                .toList();
        return candidates.stream()
                .filter(carrier ->
                        facades.bus().current().filter(now -> now == carrier).isPresent())
                .findFirst()
                .or(() -> candidates.stream().findFirst());
    }

    private void moveBus(Carrier next) {
        Lane lane = facades.bus();
        Optional<Carrier> previous = lane.current();
        if (previous.filter(now -> now == next).isPresent()) {
            return;
        }
        // Back to a carrier that was just left: what stood there must be gone, or it would hear everything twice.
        retiring.stream().filter(last -> last.carrier() == next).forEach(last -> await(last, FLUSH));
        if (previous.filter(Carrier::connected).isPresent()) {
            requireConnected(next);
        }
        lane.standing().arrive(next);
        if (previous.isPresent() && !Passage.await(previous.get(), next, SPREAD)) {
            faults.warn(
                    "switch to carrier " + next.name(),
                    "within " + SPREAD + " nothing came to it from carrier "
                            + previous.get().name() + ", though both are attached to "
                            + next.network().orElse(""));
        }
        facades.begin(next);
        lane.set(Optional.of(next));
        switches++;
        failure = Optional.empty();
        if (previous.isEmpty()) {
            facades.returned();
            return;
        }
        facades.finish(previous.get(), FLUSH);
        lane.awaitLeases(previous.get(), BEGUN);
        retire(lane, previous.get());
    }

    private void requireConnected(Carrier next) {
        long end = System.nanoTime() + CONNECT.toNanos();
        while (!next.connected()) {
            if (System.nanoTime() - end > 0) {
                throw new AbsentException("carrier " + next.name() + " has no connection");
            }
            LockSupport.parkNanos(1_000_000);
        }
    }

    /** Takes everything off the carrier now and lets what it began finish by itself. */
    private void retire(Lane lane, Carrier previous) {
        Retiring last = new Retiring(previous, lane.standing().leave(previous));
        retiring.add(last);
        last.drained().whenComplete((done, thrown) -> retiring.remove(last));
    }

    private void moveCalls(Lane lane, Seam seam) {
        Optional<Carrier> next = named(wanted, Set.of(seam)).or(() -> named(dialler, Set.of(seam)));
        if (next.isPresent() && !lane.current().equals(next)) {
            if (!lane.standing().carriers().contains(next.get())) {
                lane.standing().arrive(next.get());
            }
            lane.set(next);
        }
    }

    @Override
    public Status status() {
        List<Present> there = new ArrayList<>();
        for (Carrier carrier : present) {
            there.add(new Present(
                    carrier.name(),
                    carrier.connected(),
                    carrier.seams().stream().sorted().toList()));
        }
        there.sort(Comparator.comparing(Present::name));
        return new Status(
                wanted,
                facades.bus().current().map(Carrier::name),
                there,
                switches,
                retiring.stream().map(last -> last.carrier().name()).distinct().toList(),
                failure);
    }

    @Override
    public void use(String name, Duration bound) {
        CompletableFuture<Void> used = CompletableFuture.runAsync(() -> useNow(name), switching);
        try {
            used.get(bound.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw new RelayException(
                    FailureKind.TIMEOUT,
                    "the switch to carrier " + name + " takes longer than " + bound + "; it goes on");
        } catch (ExecutionException e) {
            throw (RuntimeException) e.getCause();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RelayException(FailureKind.UNAVAILABLE, "interrupted while switching to carrier " + name);
        }
    }

    private void useNow(String name) {
        moving.lock();
        try {
            if (named(name, BUS).isEmpty()) {
                throw new RelayException(
                        FailureKind.NOT_FOUND,
                        "there is no carrier " + name + "; there are: "
                                + present.stream().map(Carrier::name).sorted().toList());
            }
            String before = wanted;
            wanted = name;
            failure = Optional.empty();
            reconcile();
            if (failure.isPresent()) {
                wanted = before;
                throw new RelayException(
                        FailureKind.CONFLICT, "carrier " + name + " refuses, all stays as it was: " + failure.get());
            }
        } finally {
            moving.unlock();
        }
    }

    /** Ends the switching; the carriers are left one by one by {@link #go}. */
    void close() {
        switching.shutdown();
        List.copyOf(present).forEach(this::go);
    }
}
