package org.nemorelay.carriers.internal;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.NoCarrierException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.InFlight;

/**
 * Fan-out over the current carrier. Each message carries its {@link Order}. While a switch goes on, messages go out on both
 * carriers and subscriptions stand on both; {@link Merge} delivers each once, in order.
 */
final class BroadcastFacade implements Broadcaster {
    /** How long a message waits for earlier ones on another way, after the last sign of them. */
    private static final Duration HOLD = Duration.ofMillis(500);

    /** @param alone the unchanging end of the header while this is the only way out */
    private record Out(Carrier carrier, Broadcaster broadcaster, int epoch, String alone) {}

    private final Lane lane;
    private final ScheduledExecutorService timer;
    private final Faults faults;
    private final String publisher;
    /** Numbers are given out in the order of sending. */
    private final ReentrantLock sending = new ReentrantLock();

    private final List<Runnable> reconnects = new CopyOnWriteArrayList<>();
    private List<Out> outs = List.of();
    private long number;
    private int epoch;

    BroadcastFacade(Lane lane, long publisher, ScheduledExecutorService timer, Faults faults) {
        this.lane = lane;
        this.publisher = Order.publisher(publisher);
        this.timer = timer;
        this.faults = faults;
        lane.standing()
                .add(carrier -> Standing.Foothold.closing(carrier.broadcaster().onReconnect(this::reconnected)::close));
    }

    @Override
    public void publish(Message message) {
        sending.lock();
        try {
            switch (outs.size()) {
                case 0 -> {
                    Subjects.validate(message.subject());
                    throw new NoCarrierException(message.subject()
                            + ": no carrier for fan-out: the one that [distributed] carrier names is not there");
                }
                case 1 -> {
                    Out only = outs.getFirst();
                    only.broadcaster().publish(Order.on(message, publisher, ++number, only.alone()));
                }
                default -> publishOnBoth(message);
            }
        } finally {
            sending.unlock();
        }
    }

    /** It is out when one carrier took it. */
    private void publishOnBoth(Message message) {
        long next = ++number;
        Optional<SeamException> failure = Optional.empty();
        int taken = 0;
        for (int i = 0; i < outs.size(); i++) {
            Out out = outs.get(i);
            int other = outs.get(1 - i).epoch();
            try {
                out.broadcaster().publish(Order.on(message, publisher, next, Order.ways(out.epoch(), other)));
                taken++;
            } catch (SeamException e) {
                failure = Optional.of(e);
            }
        }
        if (taken == 0) {
            throw failure.orElseThrow();
        }
    }

    /** From now on messages go out on this carrier too. */
    void sendAlsoOn(Carrier next) {
        sending.lock();
        try {
            Out out = new Out(next, next.broadcaster(), ++epoch, Order.ways(epoch, 0));
            outs = outs.isEmpty() ? List.of(out) : List.of(outs.getLast(), out);
        } finally {
            sending.unlock();
        }
    }

    /** From now on messages do not go out on this carrier. */
    void stopSendingOn(Carrier carrier) {
        sending.lock();
        try {
            outs = outs.stream().filter(out -> out.carrier() != carrier).toList();
        } finally {
            sending.unlock();
        }
    }

    @Override
    public Subscription subscribe(String subject, Consumer<Message> handler) {
        Subjects.validate(subject);
        Merged merged = new Merged(subject, handler);
        lane.standing().add(merged);
        return merged;
    }

    @Override
    public void flush(Duration bound) {
        lane.run(carrier -> carrier.broadcaster().flush(bound));
    }

    @Override
    public Registration onReconnect(Runnable action) {
        reconnects.add(action);
        return () -> reconnects.remove(action);
    }

    /** A carrier's link is back, or there is a carrier again after there was none. */
    void reconnected() {
        for (Runnable action : List.copyOf(reconnects)) {
            try {
                action.run();
            } catch (RuntimeException e) {
                faults.caught("reconnect", "a callback", e);
            }
        }
    }

    private final class Merged implements Subscription, Standing.Thing {
        private final String subject;
        private final Merge merge;
        private final ReentrantLock merging = new ReentrantLock();
        private final InFlight running;
        private boolean timed;

        private Merged(String subject, Consumer<Message> handler) {
            this.subject = subject;
            this.running = new InFlight(subject);
            this.merge = new Merge(guarded(handler), HOLD.toNanos());
        }

        /** One message's exception must not take those with it that a way held behind it. */
        private Consumer<Message> guarded(Consumer<Message> handler) {
            return message -> {
                try {
                    handler.accept(message);
                } catch (RuntimeException e) {
                    if (Faults.meant(e)) {
                        faults.refused(subject, message.toString(), e);
                    } else {
                        faults.caught(subject, message.toString(), e);
                    }
                }
            };
        }

        @Override
        public Standing.Foothold on(Carrier carrier) {
            int attachment = attach();
            try {
                Subscription subscription =
                        carrier.broadcaster().subscribe(subject, message -> offer(attachment, message));
                return new Standing.Foothold() {
                    @Override
                    public void drain() {
                        subscription.drain();
                        detach(attachment);
                    }

                    @Override
                    public void drop() {
                        subscription.unsubscribe();
                        detach(attachment);
                    }
                };
            } catch (RuntimeException e) {
                detach(attachment);
                throw e;
            }
        }

        private int attach() {
            merging.lock();
            try {
                return merge.attach();
            } finally {
                merging.unlock();
            }
        }

        private void offer(int attachment, Message message) {
            if (!running.enter()) {
                return;
            }
            merging.lock();
            try {
                if (merge.offer(attachment, message, System.nanoTime()) && !timed) {
                    timed = true;
                    timer.schedule(this::expire, HOLD.toNanos(), TimeUnit.NANOSECONDS);
                }
            } finally {
                merging.unlock();
                running.leave();
            }
        }

        private void expire() {
            if (!running.enter()) {
                return;
            }
            merging.lock();
            try {
                timed = merge.expire(System.nanoTime());
                if (timed && !timer.isShutdown()) {
                    timer.schedule(this::expire, HOLD.toNanos(), TimeUnit.NANOSECONDS);
                }
            } finally {
                merging.unlock();
                running.leave();
            }
        }

        private void detach(int attachment) {
            if (!running.enter()) {
                return;
            }
            merging.lock();
            try {
                merge.detach(attachment, System.nanoTime());
            } finally {
                merging.unlock();
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
