package org.nemorelay.worker.internal.observe;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pipeline.Records;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.worker.internal.hook.HookPayload;

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
    private static final long HOLD_MILLIS = 2000;
    /**
     * How long traffic gathers before it is read, unless somebody waits: a wake-up costs a request more than its record. What
     * gathers longer outgrows the young generation.
     */
    private static final long GATHER_MILLIS = 5;

    private static final CompletableFuture<Void> DONE = CompletableFuture.completedFuture(null);

    /** Hooks that end something, of all agents. A prompt ends a turn that nobody ended. */
    private static final Set<String> ENDING = Set.of(
            "posttooluse",
            "posttoolusefailure",
            "permissiondenied",
            "subagentstop",
            "userpromptsubmit",
            "stop",
            "sessionend",
            "toolexecutionend",
            "userbashend",
            "turnstart",
            "turnend",
            "sessionshutdown");

    // No lambdas: every request makes some of these, and until its caller is well compiled each capturing lambda is
    // allocated by a call into the virtual machine.

    private record Begin(SessionEvents sessions, ObservedCall call, ObservedRequest request, Optional<byte[]> body)
            implements Runnable {
        @Override
        public void run() {
            boolean probe = body.isPresent()
                    && StartUpProbe.possible(request.api(), body.get().length)
                    && sessions.startUpProbe(request, body.get());
            if (!probe) {
                call.started(sessions.callStarted(request));
            }
        }
    }

    private record Drain(SessionEvents sessions, ObservedCall call) implements Runnable {
        @Override
        public void run() {
            call.drain(sessions);
        }
    }

    private final Supplier<Snapshot> plugins;
    private final EventLog log;
    private final int captureBytes;
    private final SessionEvents sessions;
    private final Thread thread;

    private final Object lock = new Object();

    // Guarded by lock.
    private List<Runnable> queue = new ArrayList<>();
    private boolean urgent;
    private long hookBytes;
    private long lost;
    private boolean closed;

    /** What a hook's answer has waited for in vain. */
    private volatile CompletableFuture<Void> overdue = DONE;

    /**
     * Starts the thread.
     *
     * @param plugins the subscribers as of now
     * @param pluginConfig the plugins.toml in force as of now, for the events that repeat it
     * @param ids fresh UUIDs, version 7
     * @param captureBytes how much of one answer is copied at most
     */
    public TrafficEvents(
            Supplier<Snapshot> plugins,
            Supplier<Map<String, Object>> pluginConfig,
            Supplier<String> ids,
            EventLog log,
            int captureBytes) {
        this.plugins = plugins;
        this.log = log;
        this.captureBytes = captureBytes;
        this.sessions = new SessionEvents(new Scopes(ids, this::publish), pluginConfig);
        this.thread = Thread.ofPlatform().name("observation").daemon().start(this::dispatch);
    }

    /**
     * A hook that arrived; call it before the hook is answered.
     *
     * @param bytes of its payload
     * @param ruling what policies say to it
     * @return completes when the hook may be answered: at once, or, for a hook that ends a scope, when subscribers have
     *     that end (plugins.md 1.7). Subscribers that are slower than two seconds are waited for once, not at every hook.
     */
    public CompletableFuture<Void> hook(HookPayload hook, int bytes, Ruling ruling) {
        if (!plugins.get().observed()) {
            return DONE;
        }
        Instant now = Instant.now();
        CompletableFuture<Void> handled = new CompletableFuture<>();
        synchronized (lock) {
            if (hookBytes + bytes > MAX_HOOK_BYTES) {
                lose();
                return DONE;
            }
            if (!add(() -> hook(now, hook, bytes, ruling, handled))) {
                return DONE;
            }
            hurry();
            hookBytes += bytes;
            if (!ENDING.contains(hook.eventWord()) || !overdue.isDone()) {
                return DONE;
            }
        }
        return handled.copy()
                .completeOnTimeout(null, HOLD_MILLIS, TimeUnit.MILLISECONDS)
                .whenComplete((done, failure) -> {
                    if (!handled.isDone()) {
                        overdue = handled;
                    }
                });
    }

    /** Whether requests to this path, without a query, are recorded now. */
    public boolean observes(String path) {
        return ModelApi.ofPath(path).isPresent() && plugins.get().observed();
    }

    /**
     * A provider request that is about to be sent on.
     *
     * @param path without a query
     * @param headers the harness's; of several equal names the last counts
     * @param body plain, where it was read already
     * @return what takes the copy of its answer; {@link ExchangeListener#NONE} when nobody observes, or the path is not
     *     recorded
     */
    public ExchangeListener exchange(String path, HttpFields headers, Optional<byte[]> body) {
        if (!observes(path)) {
            return ExchangeListener.NONE;
        }
        Optional<ObservedCall> call = call(
                path,
                headers,
                headers.getLongField(HttpHeader.CONTENT_LENGTH),
                body.map(bytes -> new RequestCopy(bytes, "", captureBytes)));
        return call.isPresent() ? call.get() : ExchangeListener.NONE;
    }

    /**
     * A provider request that plugins did not let pass.
     *
     * @param checks what guardrails said
     */
    public void refused(String path, HttpFields headers, Optional<byte[]> body, List<Clearance.Check> checks) {
        Optional<ModelApi> api = ModelApi.ofPath(path);
        if (api.isPresent() && plugins.get().observed()) {
            ObservedRequest request = new ObservedRequest(
                    Instant.now(),
                    api.get(),
                    path,
                    headers,
                    body.map(bytes -> new RequestCopy(bytes, "", captureBytes)));
            add(() -> sessions.callRefused(request, checks));
        }
    }

    /**
     * @param length of the request's body, negative where the head does not tell
     * @param body for the record, where it was read already
     */
    Optional<ObservedCall> call(String path, HttpFields headers, long length, Optional<RequestCopy> body) {
        Optional<ModelApi> api = ModelApi.ofPath(path);
        Snapshot snapshot = plugins.get();
        if (api.isEmpty() || !snapshot.observed()) {
            return Optional.empty();
        }
        ObservedRequest request = new ObservedRequest(Instant.now(), api.get(), path, headers, body);
        // A sanitizer is for what requests say, so they are recorded with it.
        boolean wanted = body.isEmpty() && !snapshot.stages().sanitizers().isEmpty();
        boolean needed = body.isEmpty() && StartUpProbe.possible(api.get(), length);
        ObservedCall call = new ObservedCall(this, request, captureBytes, wanted || needed, wanted);
        return call.awaitsBody() || begin(call, request, Optional.empty()) ? Optional.of(call) : Optional.empty();
    }

    /**
     * Has the dispatcher open a call's scope.
     *
     * @param body of a request that may be none of a conversation
     */
    boolean begin(ObservedCall call, ObservedRequest request, Optional<byte[]> body) {
        Optional<byte[]> small = body.isPresent() || request.body().isEmpty()
                ? body
                : Optional.of(request.body().get().bytes());
        return add(new Begin(sessions, call, request, small));
    }

    /** Completes when subscribers have everything that was handed over before the call. */
    public CompletableFuture<Void> flush() {
        CompletableFuture<Void> handedOn = new CompletableFuture<>();
        synchronized (lock) {
            if (!add(() -> handedOn.complete(null))) {
                handedOn.complete(null);
            }
            hurry();
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
        synchronized (lock) {
            closed = true;
            lock.notifyAll();
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
        synchronized (lock) {
            if (!closed) {
                put(new Drain(sessions, call));
            }
        }
    }

    private boolean add(Runnable work) {
        synchronized (lock) {
            if (closed) {
                return false;
            }
            if (queue.size() >= MAX_WAITING) {
                lose();
                return false;
            }
            put(work);
            return true;
        }
    }

    /** The first piece wakes the dispatcher, which then lets more gather. */
    private void put(Runnable work) {
        queue.add(work);
        if (queue.size() == 1) {
            lock.notifyAll();
        } else if (queue.size() == MAX_WAITING / 2) {
            hurry();
        }
    }

    private void hurry() {
        urgent = true;
        lock.notifyAll();
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

    private void hook(Instant now, HookPayload hook, int bytes, Ruling ruling, CompletableFuture<Void> handled) {
        synchronized (lock) {
            hookBytes -= bytes;
        }
        try {
            sessions.hook(now, hook, ruling);
        } finally {
            plugins.get().taken().whenComplete((done, failure) -> handled.complete(null));
        }
    }

    /** Waits for the plugins that change records; each has a time of its own for that. */
    private void publish(Event event) {
        Snapshot snapshot = plugins.get();
        snapshot.publish(
                snapshot.stages().record()
                        ? Records.process(snapshot.stages(), event).join()
                        : event);
    }

    private void dispatch() {
        try {
            while (true) {
                List<Runnable> gathered = next();
                if (gathered.isEmpty()) {
                    attempt(() -> sessions.sweep(Instant.now()));
                }
                gathered.forEach(this::attempt);
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    private void attempt(Runnable work) {
        try {
            work.run();
        } catch (RuntimeException | StackOverflowError e) {
            log.log(EventLog.Level.ERROR, TARGET, "observation_failed", "not recorded: " + Reasons.defect(e));
        }
    }

    /** What has gathered; nothing when there was none for a while. */
    private List<Runnable> next() throws InterruptedException {
        synchronized (lock) {
            if (!await(SWEEP_MILLIS, () -> !queue.isEmpty())) {
                return List.of();
            }
            await(GATHER_MILLIS, () -> urgent);
            urgent = false;
            List<Runnable> gathered = queue;
            queue = new ArrayList<>(gathered.size());
            return gathered;
        }
    }

    private boolean await(long millis, BooleanSupplier there) throws InterruptedException {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        while (!there.getAsBoolean()) {
            long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            if (left <= 0) {
                return false;
            }
            lock.wait(left);
        }
        return true;
    }
}
