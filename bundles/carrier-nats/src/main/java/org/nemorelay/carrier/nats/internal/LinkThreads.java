package org.nemorelay.carrier.nats.internal;

import java.util.List;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/** The threads of one connection, all of them ours, so that none is left when the bundle goes. */
final class LinkThreads {
    private final ExecutorService sockets;
    private final ScheduledExecutorService timer;
    private final ExecutorService work;
    private final Holding holding;

    LinkThreads(String name) {
        sockets = Executors.newCachedThreadPool(Thread.ofPlatform()
                .daemon()
                .name("nats-" + name + "-socket-", 0)
                .factory());
        timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("nats-" + name + "-timer").factory());
        work = Executors.newThreadPerTaskExecutor(
                Thread.ofVirtual().name("nats " + name + " ", 0).factory());
        holding = new Holding(work);
    }

    ExecutorService sockets() {
        return sockets;
    }

    ScheduledExecutorService timer() {
        return timer;
    }

    ExecutorService work() {
        return holding;
    }

    /** Runs callbacks where they arise: the reader's come in the order of what it read. They must not block. */
    static ExecutorService direct() {
        return new Direct();
    }

    /** Runs {@code action} and returns what it handed to {@link #work()} meanwhile, which has not run. */
    Runnable hold(Interruptible action) throws InterruptedException {
        return holding.hold(action);
    }

    /** Something that waits. */
    @FunctionalInterface
    interface Interruptible {
        void run() throws InterruptedException;
    }

    void close() {
        for (ExecutorService each : List.of(timer, work, sockets)) {
            each.shutdownNow();
        }
        try {
            for (ExecutorService each : List.of(timer, work, sockets)) {
                each.awaitTermination(5, TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private abstract static class Unending extends AbstractExecutorService {
        @Override
        public void shutdown() {}

        @Override
        public List<Runnable> shutdownNow() {
            return List.of();
        }

        @Override
        public boolean isShutdown() {
            return false;
        }

        @Override
        public boolean isTerminated() {
            return false;
        }

        @Override
        public boolean awaitTermination(long timeout, TimeUnit unit) {
            return false;
        }
    }

    private static final class Direct extends Unending {
        @Override
        public void execute(Runnable task) {
            task.run();
        }
    }

    /**
     * Holds back what one thread submits. When a subscription is drained, the client library leaves a task behind that ends
     * the subscription once its queue is empty, and with it a message that was just taken and is not yet handed out.
     */
    private static final class Holding extends Unending {
        private final ExecutorService work;
        private final ThreadLocal<Runnable[]> held = new ThreadLocal<>();

        private Holding(ExecutorService work) {
            this.work = work;
        }

        private Runnable hold(Interruptible action) throws InterruptedException {
            Runnable[] task = {() -> {}};
            held.set(task);
            try {
                action.run();
            } finally {
                held.remove();
            }
            return task[0];
        }

        @Override
        public void execute(Runnable task) {
            Runnable[] place = held.get();
            if (place == null) {
                work.execute(task);
            } else {
                place[0] = task;
            }
        }
    }
}
