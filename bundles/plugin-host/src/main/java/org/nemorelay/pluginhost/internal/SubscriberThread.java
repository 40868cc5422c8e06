package org.nemorelay.pluginhost.internal;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventSubscriber;
import org.nemorelay.pluginhost.EventSink;
import org.nemorelay.telemetry.EventLog;

/**
 * One subscriber on a thread of its own: activation, events and flushes all run there, so a plugin that blocks holds up
 * nobody but itself. The queue is bounded by number and by size. A subscriber that fails is in trouble until it has taken
 * an event again and then a flush: one that gathers what it gets may fail only there.
 */
final class SubscriberThread implements EventSink, PluginServices.Runner {
    private static final int MAX_EVENTS = 1024;
    private static final long MAX_CHARACTERS = 16L * 1024 * 1024;
    /** How long events gather once there is one, unless somebody waits: to wake for each costs more than most of them. */
    private static final long GATHER_MILLIS = 2;

    /** How long after a failure it is looked for its end: at least, and at most. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long LOOK_MAX_NANOS = TimeUnit.SECONDS.toNanos(60);

    /** How long after the last event it is asked to put away what it has: what it fails with then would else be told by the next one. */
    static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final String name;
    private final EventLog log;
    private final Runnable troubleChanged;
    private final long idleNanos;
    private final Thread thread;
    private final Deque<Work> queue = new ArrayDeque<>();
    private long characters;
    private long dropped;
    private boolean urgent;
    private boolean closed;

    private volatile String trouble = "";

    // Of the thread.
    private boolean eventFailed;
    private long failures;
    private long pauseNanos = LOOK_NANOS;
    private long lookNanos;
    private boolean flushed = true;
    private long lastNanos;

    private sealed interface Work {
        /** @param characters what the event holds on to */
        record Publish(Event event, long characters) implements Work {}

        /** Tells when the queue is read up to here. */
        sealed interface Point extends Work {
            CompletableFuture<Void> done();
        }

        record Taken(CompletableFuture<Void> done) implements Point {}

        record Flush(CompletableFuture<Void> done) implements Point {}

        /** Is it still in trouble, or in trouble since its last event? */
        record Look() implements Work {}
    }

    /**
     * Starts the thread.
     *
     * @param name what logs call the subscriber
     * @param activation gets the service, which may construct it and take any time; empty when there is none
     * @param started given this sink on the new thread when activation found a subscriber, else nothing
     * @param troubleChanged told on the new thread when {@link #trouble} has changed
     * @param idleNanos without an event, after which it is flushed
     */
    SubscriberThread(
            String name,
            EventLog log,
            Supplier<Optional<EventSubscriber>> activation,
            Consumer<Optional<EventSink>> started,
            Runnable troubleChanged,
            long idleNanos) {
        this.name = name;
        this.idleNanos = idleNanos;
        this.log = log;
        this.troubleChanged = troubleChanged;
        this.thread = Thread.ofPlatform().name("plugin-" + name).daemon().unstarted(() -> {
            try {
                Optional<EventSubscriber> subscriber = activation.get();
                started.accept(subscriber.map(service -> this));
                subscriber.ifPresent(this::serve);
            } finally {
                abandonQueue();
            }
        });
        thread.start();
    }

    @Override
    public synchronized void publish(Event event) {
        if (closed) {
            return;
        }
        long size = characters(event.values());
        if (queue.size() >= MAX_EVENTS || (characters + size > MAX_CHARACTERS && !queue.isEmpty())) {
            if (dropped++ == 0) {
                log.log(
                        EventLog.Level.WARN,
                        PluginHostComponent.TARGET,
                        "plugin_events_dropped",
                        "plugin " + name + " is slower than the events: some are dropped for it",
                        "plugin",
                        name);
            }
            return;
        }
        characters += size;
        queue.add(new Work.Publish(event, size));
        if (queue.size() == 1) {
            notifyAll();
        } else if (queue.size() == MAX_EVENTS / 2) {
            hurry();
        }
    }

    private void hurry() {
        urgent = true;
        notifyAll();
    }

    @Override
    public CompletableFuture<Void> taken() {
        return add(new Work.Taken(new CompletableFuture<>()));
    }

    @Override
    public CompletableFuture<Void> flush() {
        return add(new Work.Flush(new CompletableFuture<>()));
    }

    @Override
    public String trouble() {
        return trouble;
    }

    private synchronized CompletableFuture<Void> add(Work.Point point) {
        if (closed) {
            return CompletableFuture.completedFuture(null);
        }
        queue.add(point);
        hurry();
        return point.done();
    }

    /**
     * Lets the subscriber finish what it was given, with a last flush, for as long as {@code millis}; then interrupts
     * and leaves it. Returns whether the thread has ended.
     */
    @Override
    public boolean close(long millis) throws InterruptedException {
        synchronized (this) {
            if (!closed) {
                queue.add(new Work.Flush(new CompletableFuture<>()));
                closed = true;
                hurry();
            }
            if (dropped > 0) {
                log.log(
                        EventLog.Level.WARN,
                        PluginHostComponent.TARGET,
                        "plugin_events_dropped",
                        "plugin " + name + " was slower than the events: " + dropped + " were dropped for it",
                        "plugin",
                        name,
                        "dropped",
                        dropped);
                dropped = 0;
            }
        }
        thread.join(millis);
        if (thread.isAlive()) {
            thread.interrupt();
            thread.join(millis / 10 + 1);
        }
        return !thread.isAlive();
    }

    private void serve(EventSubscriber subscriber) {
        try {
            for (Optional<Work> work = next(); work.isPresent(); work = next()) {
                switch (work.get()) {
                    case Work.Publish(Event event, long size) -> {
                        eventFailed = !attempt("onEvent", () -> subscriber.onEvent(event));
                        flushed = false;
                        lastNanos = System.nanoTime();
                        if (looking() && System.nanoTime() - lookNanos >= 0) {
                            flush(subscriber);
                        }
                    }
                    case Work.Taken(CompletableFuture<Void> done) -> done.complete(null);
                    case Work.Flush(CompletableFuture<Void> done) -> {
                        flush(subscriber);
                        done.complete(null);
                    }
                    case Work.Look() -> flush(subscriber);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized Optional<Work> next() throws InterruptedException {
        if (queue.isEmpty()) {
            urgent = closed;
            while (queue.isEmpty()) {
                if (closed) {
                    return Optional.empty();
                }
                if (!looking() && flushed) {
                    wait();
                    continue;
                }
                long left = (looking() ? lookNanos : lastNanos + idleNanos) - System.nanoTime();
                if (left <= 0) {
                    return Optional.of(new Work.Look());
                }
                wait(left / 1_000_000, (int) (left % 1_000_000));
            }
            gather();
        }
        Work work = queue.remove();
        if (work instanceof Work.Publish(Event event, long size)) {
            characters -= size;
        }
        return Optional.of(work);
    }

    private void gather() throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(GATHER_MILLIS);
        long left = GATHER_MILLIS;
        while (!urgent && left > 0) {
            wait(left);
            left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
        }
    }

    private synchronized void abandonQueue() {
        closed = true;
        for (Work work : queue) {
            if (work instanceof Work.Point point) {
                point.done().complete(null);
            }
        }
        queue.clear();
    }

    private interface Call {
        void run() throws Exception;
    }

    /** Returns whether it succeeded. */
    private boolean attempt(String method, Call call) throws InterruptedException {
        try {
            call.run();
            return true;
        } catch (Throwable e) {
            // Whatever a plugin throws, an error of its own making too, is its failure and ends this call.
            if (e instanceof InterruptedException asked && isClosed()) {
                throw asked;
            }
            failed(method + ": " + Failures.message(e));
            return false;
        } finally {
            if (!isClosed()) {
                // Nobody has interrupted this thread but the plugin.
                Thread.interrupted();
            }
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private boolean looking() {
        return !trouble.isEmpty() && !eventFailed;
    }

    private void flush(EventSubscriber subscriber) throws InterruptedException {
        long begun = System.nanoTime();
        flushed = true;
        if (!attempt("flush", subscriber::flush)) {
            // A flush that waits for a server that is gone must not take the place of the events.
            long now = System.nanoTime();
            pauseNanos = Math.clamp(10 * (now - begun), LOOK_NANOS, LOOK_MAX_NANOS);
            lookNanos = now + pauseNanos;
        } else if (looking()) {
            trouble = "";
            log.log(
                    EventLog.Level.INFO,
                    PluginHostComponent.TARGET,
                    "plugin_recovered",
                    "plugin " + name + " takes events again, after " + failures + " failures",
                    "plugin",
                    name);
            failures = 0;
            pauseNanos = LOOK_NANOS;
            troubleChanged.run();
        }
    }

    private void failed(String what) {
        boolean first = trouble.isEmpty();
        String line = "plugin " + name + " failed in " + what;
        log.log(
                first ? EventLog.Level.ERROR : EventLog.Level.DEBUG,
                PluginHostComponent.TARGET,
                "plugin_failed",
                line,
                "plugin",
                name);
        failures++;
        lookNanos = System.nanoTime() + pauseNanos;
        if (first) {
            trouble = line;
            troubleChanged.run();
        }
    }

    private static long characters(Object value) {
        return switch (value) {
            case String text -> text.length() + 16L;
            case Map<?, ?> map -> {
                long sum = 64;
                for (Map.Entry<?, ?> entry : map.entrySet()) {
                    sum += 32 + characters(entry.getValue());
                }
                yield sum;
            }
            case Iterable<?> list -> {
                long sum = 32;
                for (Object item : list) {
                    sum += characters(item);
                }
                yield sum;
            }
            case null, default -> 16;
        };
    }
}
