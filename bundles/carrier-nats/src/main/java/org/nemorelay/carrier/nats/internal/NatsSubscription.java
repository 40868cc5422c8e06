package org.nemorelay.carrier.nats.internal;

import io.nats.client.Message;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.nemorelay.seams.carrier.Bus;
import org.nemorelay.seams.carrier.Faults;

/**
 * A subscription and the thread that takes its messages into a sink. It outlives connections: what one brought is handed
 * over, then that of the next.
 */
final class NatsSubscription implements Bus.Intake {
    /** How far a subscription may fall behind, in messages and bytes. */
    static final int MOST_WAITING = 65_536;

    static final long MOST_BYTES = 64L * 1024 * 1024;

    private enum End {
        NONE,
        /** What has arrived is still taken. */
        DRAINED,
        DROPPED
    }

    /**
     * How often, a millisecond apart, a drained subscription is asked again: a server that was just handing over a message
     * may do so behind its confirmation.
     */
    private static final int LATE_POLLS = 10;

    /** The client library's word for waiting until there is something. */
    private static final Duration FOREVER = Duration.ZERO;

    private final NatsLink link;
    private final String subject;
    private final Optional<String> group;
    private final Consumer<Message> sink;
    private final Runnable closeSink;
    private final Faults faults;
    private final Thread thread;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private Optional<io.nats.client.Subscription> source = Optional.empty();
    private volatile End end = End.NONE;

    /** @param closeSink refuses further deliveries and waits for running ones */
    NatsSubscription(
            NatsLink link,
            String subject,
            Optional<String> group,
            Consumer<Message> sink,
            Runnable closeSink,
            Faults faults) {
        this.link = link;
        this.subject = subject;
        this.group = group;
        this.sink = sink;
        this.closeSink = closeSink;
        this.faults = faults;
        this.thread =
                Thread.ofVirtual().name("nats " + link.name() + " " + subject).unstarted(this::run);
    }

    String subject() {
        return subject;
    }

    Optional<String> group() {
        return group;
    }

    void start() {
        thread.start();
    }

    /** Takes from this source, once the last one is done. */
    void attach(io.nats.client.Subscription next) {
        next.setPendingLimits(MOST_WAITING, MOST_BYTES);
        lock.lock();
        try {
            source = Optional.of(next);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        try {
            for (Optional<io.nats.client.Subscription> next = next(); next.isPresent(); next = next()) {
                take(next.get());
                lose(next.get());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private Optional<io.nats.client.Subscription> next() throws InterruptedException {
        lock.lock();
        try {
            while (source.isEmpty() && end == End.NONE) {
                changed.await();
            }
            return end == End.DROPPED ? Optional.empty() : source;
        } finally {
            lock.unlock();
        }
    }

    private void lose(io.nats.client.Subscription gone) {
        lock.lock();
        try {
            source = source.filter(now -> now != gone);
        } finally {
            lock.unlock();
        }
    }

    /** Until the source has ended: with its connection, by a drain, or because it was unsubscribed. */
    private void take(io.nats.client.Subscription from) throws InterruptedException {
        try {
            for (int quiet = 0; quiet < LATE_POLLS; ) {
                Message next = from.nextMessage(FOREVER);
                if (next != null && end == End.DROPPED) {
                    return;
                }
                if (next != null) {
                    quiet = 0;
                    hand(next);
                } else {
                    quiet++;
                    Thread.sleep(1);
                }
            }
        } catch (IllegalStateException inactive) {
            // Nothing more comes from this one.
        }
    }

    private void hand(Message message) {
        try {
            sink.accept(message);
        } catch (Throwable thrown) {
            String delivery = message.getSubject() + ", " + message.getData().length + " bytes";
            if (Faults.meant(thrown)) {
                faults.refused(subject, delivery, thrown);
            } else {
                faults.caught(subject, delivery, thrown);
            }
        }
    }

    @Override
    public void detach() {
        current().ifPresent(NatsSubscription::drop);
        end(End.DROPPED);
        link.forget(this);
    }

    private static void drop(io.nats.client.Subscription from) {
        try {
            from.unsubscribe();
        } catch (IllegalStateException inactive) {
            // It went with its connection.
        }
    }

    @Override
    public void unsubscribe() {
        requireOutside();
        closeSink.run();
        detach();
        join();
    }

    @Override
    public void drain() {
        requireOutside();
        Optional<io.nats.client.Subscription> from = current();
        Optional<Runnable> cleanUp = from.flatMap(link::drain);
        if (cleanUp.isEmpty()) {
            from.ifPresent(NatsSubscription::dropWhenEmpty);
        }
        end(End.DRAINED);
        join();
        cleanUp.ifPresent(Runnable::run);
        link.forget(this);
        closeSink.run();
    }

    private void requireOutside() {
        if (Thread.currentThread() == thread) {
            throw new IllegalStateException(subject + ": a handler must not end its own subscription");
        }
    }

    /** Nothing more comes while the link is down. */
    private static void dropWhenEmpty(io.nats.client.Subscription from) {
        while (from.isActive() && from.getPendingMessageCount() > 0) {
            LockSupport.parkNanos(1_000_000);
        }
        drop(from);
    }

    private Optional<io.nats.client.Subscription> current() {
        lock.lock();
        try {
            return source;
        } finally {
            lock.unlock();
        }
    }

    private void end(End how) {
        lock.lock();
        try {
            end = how;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void join() {
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
