package org.nemorelay.carriers.internal;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Publisher;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkHandler;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.InFlight;
import org.nemorelay.seams.carrier.Slots;

/** Queues over the current carrier; one gate counts what a consumer has in flight on all of them. */
final class QueueFacade implements WorkQueue, WorkConsumer {
    private final Lane lane;
    private final Broadcaster events;
    /** Held to read by each enqueue, so that a switch can tell when those on the old carrier are through. */
    private final ReentrantReadWriteLock enqueuing = new ReentrantReadWriteLock(true);

    QueueFacade(Lane lane, Broadcaster events) {
        this.lane = lane;
        this.events = events;
    }

    @Override
    public void enqueue(Context context, WorkKind kind, byte[] payload) {
        enqueuing.readLock().lock();
        try {
            lane.run(carrier -> carrier.workQueue().enqueue(context, kind, payload));
        } finally {
            enqueuing.readLock().unlock();
        }
    }

    /** Waits for what is being enqueued; whether all of it is through. */
    boolean awaitEnqueues(Duration bound) {
        try {
            if (!enqueuing.writeLock().tryLock(bound.toNanos(), TimeUnit.NANOSECONDS)) {
                return false;
            }
            enqueuing.writeLock().unlock();
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    @Override
    public void flush(Duration bound) {
        lane.run(carrier -> carrier.workQueue().flush(bound));
    }

    @Override
    public Subscription consume(Context context, WorkKind kind, int maxInFlight, WorkHandler handler) {
        Consumer consumer = new Consumer(context, kind, maxInFlight, handler);
        lane.standing().add(consumer);
        return consumer;
    }

    private final class Consumer implements Subscription, Standing.Thing {
        private final Context context;
        private final WorkKind kind;
        private final int maxInFlight;
        private final WorkHandler handler;
        private final Optional<Slots> gate;
        private final InFlight running;

        private Consumer(Context context, WorkKind kind, int maxInFlight, WorkHandler handler) {
            this.context = context;
            this.kind = kind;
            this.maxInFlight = maxInFlight;
            this.handler = handler;
            this.running = new InFlight("consumer of " + kind.word());
            this.gate = maxInFlight > 0 ? Optional.of(new Slots(maxInFlight)) : Optional.empty();
        }

        @Override
        public Standing.Foothold on(Carrier carrier) {
            Subscription subscription = carrier.workConsumer()
                    .consume(
                            context,
                            kind,
                            maxInFlight,
                            (given, payload, publisher) -> handle(given, payload, own(publisher, carrier)));
            return new Standing.Foothold() {
                @Override
                public void drain() {
                    subscription.drain();
                }

                @Override
                public void drop() {
                    subscription.unsubscribe();
                }
            };
        }

        /** The carrier's own fan-out is replaced by ours, which numbers; a publisher of the delivery alone is kept. */
        private Publisher own(Publisher publisher, Carrier carrier) {
            return publisher == carrier.broadcaster() ? events : publisher;
        }

        private void handle(Context given, byte[] payload, Publisher publisher) throws Exception {
            // With a limit of one nothing ends the wait: this is the delivery thread, and the unit was accepted.
            if (gate.isPresent() && !gate.get().take(maxInFlight == 1 ? given.detached() : given)) {
                throw new CancelledException(
                        "consumer of " + kind.word() + ": cancelled while waiting for a free slot");
            }
            try {
                run(given, payload, publisher);
            } finally {
                gate.ifPresent(Slots::give);
            }
        }

        private void run(Context given, byte[] payload, Publisher publisher) throws Exception {
            if (!running.enter()) {
                return;
            }
            try {
                handler.handle(given, payload, publisher);
            } catch (Throwable thrown) {
                if (maxInFlight == 1 && !Faults.meant(thrown)) {
                    running.refuse();
                    lane.standing().abandon(this);
                }
                throw thrown;
            } finally {
                running.leave();
            }
        }

        @Override
        public void unsubscribe() {
            running.close();
            lane.standing().drop(this);
        }

        @Override
        public void drain() {
            running.requireOutside();
            lane.standing().drain(this);
            running.close();
        }
    }
}
