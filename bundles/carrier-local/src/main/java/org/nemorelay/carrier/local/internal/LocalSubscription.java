package org.nemorelay.carrier.local.internal;

import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.nemorelay.seams.carrier.Bus;
import org.nemorelay.seams.carrier.Faults;

/** A queue and the thread that empties it into a sink. */
final class LocalSubscription implements Bus.Intake {
    /** How far a subscription may fall behind. */
    static final int CAPACITY = 65_536;

    private final String where;
    private final Consumer<Delivery> sink;
    private final Runnable closeSink;
    private final Faults faults;
    private final Consumer<LocalSubscription> detach;
    /** Empty marks the end. */
    private final LinkedBlockingQueue<Optional<Delivery>> queue = new LinkedBlockingQueue<>(CAPACITY);

    private final AtomicBoolean slow = new AtomicBoolean();
    private final Thread thread;
    private volatile boolean busy;
    private boolean ended;

    LocalSubscription(
            String where,
            Consumer<Delivery> sink,
            Runnable closeSink,
            Faults faults,
            Consumer<LocalSubscription> detach) {
        this.where = where;
        this.sink = sink;
        this.closeSink = closeSink;
        this.faults = faults;
        this.detach = detach;
        this.thread = Thread.ofVirtual().name("local " + where).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    int waiting() {
        return queue.size() + (busy ? 1 : 0);
    }

    /** Whether it was taken; what a subscription too far behind loses counts as taken. */
    synchronized boolean offer(Delivery delivery) {
        if (ended) {
            return false;
        }
        if (!queue.offer(Optional.of(delivery)) && slow.compareAndSet(false, true)) {
            faults.warn(where, "a slow subscriber is " + CAPACITY + " messages behind and loses what comes now");
        }
        return true;
    }

    private void run() {
        try {
            for (Optional<Delivery> next = queue.take(); next.isPresent(); next = queue.take()) {
                busy = true;
                hand(next.get());
                busy = false;
                slow.setPlain(false);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void hand(Delivery delivery) {
        try {
            sink.accept(delivery);
        } catch (Throwable thrown) {
            if (Faults.meant(thrown)) {
                faults.refused(where, delivery.message().toString(), thrown);
            } else {
                faults.caught(where, delivery.message().toString(), thrown);
            }
        }
    }

    @Override
    public void detach() {
        detach.accept(this);
    }

    @Override
    public void unsubscribe() {
        closeSink.run();
        detach();
        queue.clear();
        end();
    }

    @Override
    public void drain() {
        if (Thread.currentThread() == thread) {
            throw new IllegalStateException(where + ": a handler must not end its own subscription");
        }
        detach();
        end();
        closeSink.run();
    }

    private void end() {
        try {
            if (endNow()) {
                queue.put(Optional.empty());
            }
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean endNow() {
        boolean first = !ended;
        ended = true;
        return first;
    }
}
