package org.nemorelay.seams.carrier;

import java.time.Duration;
import java.util.Optional;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Registration;

/** A number of slots that can be waited for until a context is cancelled or spent, or the slots are closed. Safe for any thread. */
public final class Slots {
    private int free;
    private boolean closed;

    public Slots(int free) {
        this.free = free;
    }

    /** Takes a slot; false when the wait ended without one. An interrupt ends the wait too and stays set. */
    public boolean take(Context context) {
        synchronized (this) {
            if (free > 0 && !closed) {
                free--;
                return true;
            }
        }
        Registration wake = context.onCancel(this::wake);
        try {
            return await(context);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        } finally {
            wake.close();
        }
    }

    private synchronized boolean await(Context context) throws InterruptedException {
        while (free == 0 && !closed && !context.cancelled()) {
            Optional<Duration> left = context.remaining();
            if (left.isEmpty()) {
                wait();
            } else if (left.get().isPositive()) {
                wait(left.get().toMillis() + 1);
            } else {
                return false;
            }
        }
        if (free == 0 || closed) {
            return false;
        }
        free--;
        return true;
    }

    public synchronized void give() {
        free++;
        notifyAll();
    }

    /** Ends every wait, now and later. */
    public synchronized void close() {
        closed = true;
        notifyAll();
    }

    private synchronized void wake() {
        notifyAll();
    }
}
