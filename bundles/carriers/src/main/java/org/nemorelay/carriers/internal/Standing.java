package org.nemorelay.carriers.internal;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import org.nemorelay.seams.carrier.Carrier;

/**
 * What stands for longer than a call: subscriptions, consumers, servers, endpoints. Each is put on a carrier when it comes
 * and taken off when it goes; without a carrier it stays here and is put on the next.
 */
final class Standing {
    /** Can be put on any carrier. */
    @FunctionalInterface
    interface Thing {
        /** Puts it on the carrier; it is confirmed when this returns. */
        Foothold on(Carrier carrier);
    }

    /** A thing on one carrier. */
    interface Foothold {
        /** Takes no more, finishes what has arrived, and waits for it. */
        void drain();

        /** Takes no more and drops what has arrived, waiting only for what runs. */
        void drop();

        /** For things that have nothing to drop. */
        static Foothold closing(Runnable close) {
            return new Foothold() {
                @Override
                public void drain() {
                    close.run();
                }

                @Override
                public void drop() {
                    close.run();
                }
            };
        }
    }

    private static final class Entry {
        private final Map<Carrier, Foothold> footholds = new LinkedHashMap<>();
        /** On carriers that were left, and still at work. */
        private final List<CompletableFuture<Void>> retiring = new CopyOnWriteArrayList<>();
    }

    private final List<Carrier> carriers = new ArrayList<>();
    private final Map<Thing, Entry> things = new LinkedHashMap<>();

    /** The carriers that things are on, oldest first. */
    synchronized List<Carrier> carriers() {
        return List.copyOf(carriers);
    }

    /** Puts the thing on the carriers that are there, or on none of them. */
    synchronized void add(Thing thing) {
        Entry entry = new Entry();
        try {
            for (Carrier carrier : carriers) {
                entry.footholds.put(carrier, thing.on(carrier));
            }
        } catch (RuntimeException e) {
            entry.footholds.values().forEach(Foothold::drop);
            throw e;
        }
        things.put(thing, entry);
    }

    /** Takes the thing off everywhere after what has arrived; not for its own handler. */
    void drain(Thing thing) {
        Entry entry = remove(thing);
        entry.footholds.values().forEach(Foothold::drain);
        entry.retiring.forEach(CompletableFuture::join);
    }

    /** Takes the thing off everywhere; not for its own handler. */
    void drop(Thing thing) {
        remove(thing).footholds.values().forEach(Foothold::drop);
    }

    /** Takes the thing off everywhere without waiting. */
    void abandon(Thing thing) {
        remove(thing).footholds.forEach((carrier, foothold) -> apart(carrier, foothold::drop));
    }

    private synchronized Entry remove(Thing thing) {
        Entry entry = things.remove(thing);
        return entry == null ? new Entry() : entry;
    }

    /** Puts everything on the carrier too, or nothing. */
    synchronized void arrive(Carrier carrier) {
        carriers.add(carrier);
        try {
            things.forEach((thing, entry) -> entry.footholds.put(carrier, thing.on(carrier)));
        } catch (RuntimeException e) {
            carriers.remove(carrier);
            things.values().forEach(entry -> {
                Foothold taken = entry.footholds.remove(carrier);
                if (taken != null) {
                    taken.drop();
                }
            });
            throw e;
        }
    }

    /** Takes everything off the carrier now; done when what had arrived is finished. */
    synchronized CompletableFuture<Void> leave(Carrier carrier) {
        carriers.remove(carrier);
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        things.values().forEach(entry -> {
            Foothold foothold = entry.footholds.remove(carrier);
            if (foothold != null) {
                CompletableFuture<Void> end = apart(carrier, foothold::drain);
                entry.retiring.add(end);
                end.whenComplete((done, thrown) -> entry.retiring.remove(end));
                ends.add(end);
            }
        });
        return CompletableFuture.allOf(ends.toArray(new CompletableFuture<?>[0]));
    }

    private static CompletableFuture<Void> apart(Carrier carrier, Runnable work) {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Thread.ofVirtual().name("leaving " + carrier.name()).start(() -> {
            try {
                work.run();
                end.complete(null);
            } catch (Throwable thrown) {
                end.completeExceptionally(new CompletionException(thrown));
            }
        });
        return end;
    }
}
