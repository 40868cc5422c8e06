package org.nemorelay.seams.carrier;

import java.util.HashMap;
import java.util.Map;

/** Counts the handlers that run, refuses new ones once closed, and lets the closer wait for the rest. Safe for any thread. */
public final class InFlight {
    private final String where;
    /** A handler may come round to itself, where its publisher delivers on the spot. */
    private final Map<Thread, Integer> running = new HashMap<>();

    private boolean closed;

    /** @param where names the subscription in the error of a handler that ends it */
    public InFlight(String where) {
        this.where = where;
    }

    /** Counts the calling thread in; false once closed. */
    public boolean enter() {
        return enter(Thread.currentThread());
    }

    /** Counts a thread in before it is started, so that a closer cannot come in between; false once closed. */
    public synchronized boolean enter(Thread handler) {
        if (!closed) {
            running.merge(handler, 1, Integer::sum);
        }
        return !closed;
    }

    public synchronized void leave() {
        running.computeIfPresent(Thread.currentThread(), (thread, depth) -> depth == 1 ? null : depth - 1);
        notifyAll();
    }

    /** Runs a handler on the calling thread and counts it; once closed, it is dropped. */
    public void run(Runnable handler) {
        if (enter()) {
            try {
                handler.run();
            } finally {
                leave();
            }
        }
    }

    public synchronized boolean closed() {
        return closed;
    }

    /** Refuses from now on, without waiting. */
    public synchronized void refuse() {
        closed = true;
    }

    /**
     * Refuses from now on and waits for what runs; an interrupt ends the waiting and stays set.
     *
     * @throws IllegalStateException when called by a handler that would wait for itself
     */
    public synchronized void close() {
        requireOutside();
        closed = true;
        try {
            while (!running.isEmpty()) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** @throws IllegalStateException when called by a handler that runs */
    public synchronized void requireOutside() {
        if (running.containsKey(Thread.currentThread())) {
            throw new IllegalStateException(where + ": a handler must not end its own subscription");
        }
    }
}
