package org.nemorelay.worker.internal.observe;

import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.HookAgent;
import org.nemorelay.telemetry.EventLog;

/**
 * Turns the worker's traffic into events for subscribers (plugins.md 1.7). Every public method may be called from any
 * thread, copies what it needs and returns; one thread of this object's own reads the copies, in the order in which they
 * came. What does not fit into its bounds is left out of the record and named in the log; traffic never waits.
 */
public final class TrafficEvents {
    private static final String TARGET = "nemo_relay.observation";
    private static final int MAX_WAITING = 8192;
    private static final long MAX_HOOK_BYTES = 32L * 1024 * 1024;
    private static final long SWEEP_MILLIS = 5000;

    private final Supplier<Snapshot> plugins;
    private final EventLog log;
    private final int captureBytes;
    private final SessionEvents sessions;
    private final Thread thread;

    // Guarded by queue.
    private final Deque<Runnable> queue = new ArrayDeque<>();
    private long hookBytes;
    private long lost;
    private boolean closed;

    /**
     * Starts the thread.
     *
     * @param plugins the subscribers as of now
     * @param pluginConfig the plugins.toml in force, for the events that repeat it
     * @param ids fresh UUIDs, version 7
     * @param captureBytes how much of one answer is copied at most
     */
    public TrafficEvents(
            Supplier<Snapshot> plugins,
            Map<String, Object> pluginConfig,
            Supplier<String> ids,
            EventLog log,
            int captureBytes) {
        this.plugins = plugins;
        this.log = log;
        this.captureBytes = captureBytes;
        this.sessions = new SessionEvents(new Scopes(ids, this::publish), pluginConfig);
        this.thread = Thread.ofPlatform().name("observation").daemon().start(this::dispatch);
    }

    /** A hook that arrived; call it before the hook is answered. */
    public void hook(HookAgent agent, byte[] payload) {
        if (!plugins.get().observed()) {
            return;
        }
        Instant now = Instant.now();
        synchronized (queue) {
            if (hookBytes + payload.length > MAX_HOOK_BYTES) {
                lose();
                return;
            }
            if (add(() -> hook(now, agent, payload))) {
                hookBytes += payload.length;
            }
        }
    }

    /**
     * A provider request that is about to be sent on.
     *
     * @param path without a query
     * @param headers the harness's; of several equal names the last counts
     * @return what takes the copy of its answer; {@link ExchangeListener#NONE} when nobody observes, or the path is not
     *     recorded
     */
    public ExchangeListener exchange(String path, HttpFields headers) {
        if (ModelApi.ofPath(path).isEmpty() || !plugins.get().observed()) {
            return ExchangeListener.NONE;
        }
        Map<String, String> copy = new TreeMap<>();
        for (HttpField field : headers) {
            if (field.getValue() != null) {
                copy.put(field.getLowerCaseName(), field.getValue());
            }
        }
        Optional<ObservedCall> call = call(path, copy);
        return call.isPresent() ? call.get() : ExchangeListener.NONE;
    }

    /** @param headers names in lower case */
    Optional<ObservedCall> call(String path, Map<String, String> headers) {
        Optional<ModelApi> api = ModelApi.ofPath(path);
        if (api.isEmpty() || !plugins.get().observed()) {
            return Optional.empty();
        }
        Instant now = Instant.now();
        ObservedCall call = new ObservedCall(this, api.get(), captureBytes);
        boolean added = add(() -> call.started(sessions.callStarted(now, api.get(), path, headers)));
        return added ? Optional.of(call) : Optional.empty();
    }

    /** Completes when subscribers have everything that was handed over before the call. */
    public CompletableFuture<Void> flush() {
        CompletableFuture<Void> handedOn = new CompletableFuture<>();
        if (!add(() -> handedOn.complete(null))) {
            handedOn.complete(null);
        }
        return handedOn.thenCompose(done -> plugins.get().flush());
    }

    /**
     * Ends every open scope, lets subscribers finish for as long as {@code millis}, and ends the thread.
     *
     * @param reason what the ends say, such as {@code daemon_worker_shutdown}
     */
    public void close(String reason, long millis) throws InterruptedException {
        Instant now = Instant.now();
        add(() -> sessions.close(now, reason));
        CompletableFuture<Void> flushed = flush();
        try {
            flushed.get(millis, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException e) {
            log.log(EventLog.Level.WARN, TARGET, "observation_incomplete", "subscribers did not finish in time");
        }
        synchronized (queue) {
            closed = true;
            queue.notifyAll();
            if (lost > 0) {
                log.log(
                        EventLog.Level.WARN,
                        TARGET,
                        "observation_lost",
                        lost + " hooks or requests are missing in the record",
                        "lost",
                        lost);
            }
        }
        thread.interrupt();
        thread.join();
    }

    /** Has the dispatcher read a call's copy. A call that is known to it is never lost, so its place is not counted. */
    void schedule(ObservedCall call) {
        synchronized (queue) {
            if (!closed) {
                queue.add(() -> call.drain(sessions));
                queue.notifyAll();
            }
        }
    }

    private boolean add(Runnable work) {
        synchronized (queue) {
            if (closed) {
                return false;
            }
            if (queue.size() >= MAX_WAITING) {
                lose();
                return false;
            }
            queue.add(work);
            queue.notifyAll();
            return true;
        }
    }

    private void lose() {
        if (lost++ == 0) {
            log.log(
                    EventLog.Level.WARN,
                    TARGET,
                    "observation_lost",
                    "more traffic than can be recorded: some of it is missing in the record");
        }
    }

    private void hook(Instant now, HookAgent agent, byte[] payload) {
        synchronized (queue) {
            hookBytes -= payload.length;
        }
        try {
            sessions.hook(now, new HookPayload(agent, Json.parse(payload)));
        } catch (JsonException e) {
            // A hook that is not JSON is answered all the same; there is nothing to record of it.
            log.log(EventLog.Level.DEBUG, TARGET, "hook_unreadable", e.getMessage(), "agent", agent.word());
        }
    }

    private void publish(Event event) {
        plugins.get().publish(event);
    }

    private void dispatch() {
        try {
            while (true) {
                Optional<Runnable> work = next();
                try {
                    if (work.isPresent()) {
                        work.get().run();
                    } else {
                        sessions.sweep(Instant.now());
                    }
                } catch (RuntimeException | StackOverflowError e) {
                    log.log(EventLog.Level.ERROR, TARGET, "observation_failed", "not recorded: " + e);
                }
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    /** The next piece of work; empty when there was none for a while. */
    private Optional<Runnable> next() throws InterruptedException {
        synchronized (queue) {
            long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(SWEEP_MILLIS);
            while (queue.isEmpty()) {
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (left <= 0) {
                    return Optional.empty();
                }
                queue.wait(left);
            }
            return Optional.of(queue.remove());
        }
    }
}
