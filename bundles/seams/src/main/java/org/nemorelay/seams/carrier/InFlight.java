package org.nemorelay.seams.carrier;

import java.util.HashSet;
import java.util.Set;

/** Counts the handlers that run, refuses new ones once closed, and lets the closer wait for the rest. Safe for any thread. */
public final class InFlight {
    private final String where;
    private final Set<Thread> running = new HashSet<>();
    private boolean closed;

    /** @param where names the subscription in the error of a handler that ends it */
    public InFlight(String where) {
        this.where = where;
    }

    /** Counts the calling thread in; false once closed. */
    public synchronized boolean enter() {
        return !closed && running.add(Thread.currentThread());
    }

    public synchronized void leave() {
        running.remove(Thread.currentThread());
        notifyAll();
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
        if (running.contains(Thread.currentThread())) {
            throw new IllegalStateException(where + ": a handler must not end its own subscription");
        }
        closed = true;
        try {
            while (!running.isEmpty()) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
