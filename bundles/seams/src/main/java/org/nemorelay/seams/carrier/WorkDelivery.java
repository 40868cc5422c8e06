package org.nemorelay.seams.carrier;

import org.nemorelay.seams.Context;
import org.nemorelay.seams.Publisher;
import org.nemorelay.seams.WorkHandler;

/** The two concurrency models of a consumer (distributed-seams 3.2), the same for every carrier. */
public final class WorkDelivery {
    private final String where;
    private final Context context;
    private final int maxInFlight;
    private final WorkHandler handler;
    private final Publisher events;
    private final Faults faults;
    private final Runnable stopTaking;
    private final InFlight running;
    private final Slots slots;

    /**
     * @param where names the consumer in reports
     * @param stopTaking ends the interest at the transport without waiting; called once, on the delivery thread, after a
     *     fault with a limit of 1
     */
    public WorkDelivery(
            String where,
            Context context,
            int maxInFlight,
            WorkHandler handler,
            Publisher events,
            Faults faults,
            Runnable stopTaking) {
        this.where = where;
        this.context = context;
        this.maxInFlight = maxInFlight;
        this.handler = handler;
        this.events = events;
        this.faults = faults;
        this.stopTaking = stopTaking;
        this.running = new InFlight(where);
        this.slots = new Slots(Math.max(maxInFlight, 0));
    }

    /** Takes one unit; called on the delivery thread, which it may hold up. What comes after the end is dropped. */
    public void deliver(byte[] payload, String delivery) {
        if (maxInFlight == 1) {
            inline(payload, delivery);
        } else if (maxInFlight <= 0 || takeSlot(delivery)) {
            Thread runner = Thread.ofVirtual().name(where).unstarted(() -> apart(payload, delivery));
            if (running.enter(runner)) {
                runner.start();
            } else {
                giveSlot();
            }
        }
    }

    private void inline(byte[] payload, String delivery) {
        if (!running.enter()) {
            return;
        }
        try {
            handler.handle(context, payload, events);
        } catch (Throwable thrown) {
            if (Faults.meant(thrown)) {
                faults.refused(where, delivery, thrown);
            } else {
                running.refuse();
                stopTaking.run();
                faults.fatal(where, delivery, thrown);
            }
        } finally {
            running.leave();
        }
    }

    private boolean takeSlot(String delivery) {
        if (slots.take(context)) {
            return true;
        }
        faults.warn(where, "dropped " + delivery + ", whose wait for a free slot was ended");
        return false;
    }

    private void apart(byte[] payload, String delivery) {
        try {
            handler.handle(context, payload, events);
        } catch (Throwable thrown) {
            if (Faults.meant(thrown)) {
                faults.refused(where, delivery, thrown);
            } else {
                faults.caught(where, delivery, thrown);
            }
        } finally {
            running.leave();
            giveSlot();
        }
    }

    private void giveSlot() {
        if (maxInFlight > 1) {
            slots.give();
        }
    }

    /** Drops what comes from now on and waits for running handlers. */
    public void close() {
        running.close();
        slots.close();
    }
}
