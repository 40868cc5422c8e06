package org.nemorelay.worker.internal;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.nemorelay.config.EffectiveSettings;
import org.nemorelay.control.ControlListener;
import org.nemorelay.control.RetryPolicy;
import org.nemorelay.http.HttpListener;
import org.nemorelay.json.Json;
import org.nemorelay.pluginhost.PluginHost;
import org.nemorelay.pluginhost.PluginStatus;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.PluginReport;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SettingReport;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;

/**
 * A worker's life in one thread (relay-daemon 7): register, wait for the plugins, publish, serve, then drain. Everything
 * that happens to it comes through one queue, so that whichever ending is first decides. The control connection of a worker
 * that has served ends with the process, after its plugins have: the daemon starts no successor before.
 */
final class Worker implements Runnable {
    static final String TARGET = "nemo_relay.daemon.worker";

    /** The daemon probes and has its state on disk before it answers, and a start has no deadline: a slow disk is no failure. */
    private static final long READY_MS = 30_000;

    /** How long after its launch is forgotten a worker may hear that it is to stop. */
    private static final long CANCELLED_MS = 700;

    /** How long observers may take to finish their records. */
    private static final long OBSERVERS_MS = 5_000;

    /** What the life depends on and its tests replace. */
    interface Surroundings {
        /** Opens the data plane. */
        HttpListener listen();

        /** Where the daemon reaches a data plane on this port. */
        String endpoint(int port);

        /** Begins to observe: the plugins run. */
        void observe();

        /** Lets observers finish. */
        void closeObservation(long millis) throws InterruptedException;

        /** What is in force in this worker beside its plugins' configuration. */
        List<EffectiveSettings.Setting> settings();

        /** Whether the daemon's clock is this machine's. */
        boolean daemonHasThisClock();

        /** Whether the process that started this one has ended. */
        boolean starterGone();
    }

    /** Why the worker ends, as the log says it. */
    private enum Ending {
        DRAINED("drained"),
        DRAIN_DEADLINE("drain_deadline_reached"),
        CONTROL_LOST("control_recovery_failed"),
        SIGNAL("signal");

        private final String word;

        Ending(String word) {
            this.word = word;
        }
    }

    private sealed interface Happening {
        record PluginsReady() implements Happening {}

        record PluginsChanged() implements Happening {}

        record StoodStill() implements Happening {}

        record PluginsFailed(RelayException failure) implements Happening {}

        record Drain(long deadlineNanos) implements Happening {}

        record ControlLost(int session, long at) implements Happening {}

        record Stop() implements Happening {}
    }

    private final LaunchGrant grant;
    private final Daemon daemon;
    private final Admission admission;
    private final PluginHost plugins;
    private final Surroundings surroundings;
    private final EventLog log;
    private final ProcessControl process;
    private final long longestDrainMs;
    private final BlockingQueue<Happening> happenings = new LinkedBlockingQueue<>();
    private final AtomicBoolean drainAsked = new AtomicBoolean();
    private final AtomicBoolean stopAsked = new AtomicBoolean();
    private volatile Optional<Thread> living = Optional.empty();

    // Of the worker's own thread.
    private int sessions;
    private boolean whole = true;
    private String endpoint = "";
    private Optional<Daemon.Link> link = Optional.empty();

    /** @param longestDrainMs how long the requests in flight may take at the end, where the daemon does not say less */
    Worker(
            LaunchGrant grant,
            Daemon daemon,
            Admission admission,
            PluginHost plugins,
            Surroundings surroundings,
            EventLog log,
            ProcessControl process,
            long longestDrainMs) {
        this.grant = grant;
        this.daemon = daemon;
        this.admission = admission;
        this.plugins = plugins;
        this.surroundings = surroundings;
        this.log = log;
        this.process = process;
        this.longestDrainMs = longestDrainMs;
        admission.standstill().ask(() -> happenings.add(new Happening.StoodStill()));
    }

    /** What is in force has changed, which the daemon is to know. Any thread. */
    void changed() {
        happenings.add(new Happening.PluginsChanged());
    }

    /** Asks the worker to finish what is in flight and end. Any thread. */
    void stop() {
        synchronized (stopAsked) {
            if (stopAsked.compareAndSet(false, true)) {
                happenings.add(new Happening.Stop());
                // Registrations and recoveries are waited for elsewhere than at the queue.
                living.ifPresent(Thread::interrupt);
            }
        }
    }

    @Override
    public void run() {
        living = Optional.of(Thread.currentThread());
        try (HttpListener listener = surroundings.listen()) {
            endpoint = surroundings.endpoint(listener.port());
            live(listener);
        } catch (RelayException e) {
            // It has not served: the daemon may forget this start at once.
            link.ifPresent(Daemon.Link::close);
            if (wanted(e)) {
                stopped(Ending.SIGNAL.word, Optional.empty());
                process.exit(0);
            } else {
                stopped("startup_failed", Optional.of(e));
                process.fail(e);
            }
        } catch (RuntimeException | Error e) {
            RelayException defect = defect(e);
            stopped("failed", Optional.of(defect));
            process.fail(defect);
        } catch (InterruptedException e) {
            stopped(Ending.SIGNAL.word, Optional.empty());
            process.exit(0);
        } finally {
            living = Optional.empty();
        }
    }

    /**
     * Whether a start that the daemon forgot was cancelled: the session ended, which is no failure. Its MCP client tells the
     * daemon first and this process a moment later, or just ends.
     */
    private boolean wanted(RelayException failure) {
        boolean forgotten = failure.kind() == FailureKind.UNAVAILABLE || failure.kind() == FailureKind.UNAUTHORIZED;
        long deadline = inFuture(forgotten ? CANCELLED_MS : 0);
        while (!endingAsked()) {
            if (forgotten && surroundings.starterGone()) {
                return true;
            }
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            try {
                Thread.sleep(Math.min(20, TimeUnit.NANOSECONDS.toMillis(left) + 1));
            } catch (InterruptedException e) {
                return true; // by stop()
            }
        }
        return true;
    }

    /** What ends the process when its worker cannot go on: without it, nothing in it would come to an end. */
    static RelayException defect(Throwable cause) {
        return new RelayException(FailureKind.INTERNAL, "the worker cannot go on: " + Reasons.defect(cause), cause);
    }

    private void live(HttpListener listener) throws InterruptedException {
        registered(RetryPolicy.worker(
                RetryPolicy.deadline(), limit -> daemon.register(endpoint, grant, new Control(++sessions), limit)));
        awaitPlugins();
        if (!endingAsked()) {
            surroundings.observe();
            publish(inFuture(READY_MS));
            process.ready();
            log.log(
                    EventLog.Level.INFO,
                    TARGET,
                    "worker_ready",
                    "Daemon worker is ready",
                    "worker_id",
                    daemon.workerId());
        }
        Ending ending = serve();
        listener.close(Duration.ZERO);
        surroundings.closeObservation(OBSERVERS_MS);
        stopped(ending.word, Optional.empty());
        process.exit(0);
    }

    /** Returns when the plugins run, or when something else has happened that is next in the queue. */
    private void awaitPlugins() throws InterruptedException {
        plugins.onChange(this::changed);
        CompletableFuture<Void> ready = plugins.ready().toCompletableFuture();
        if (!ready.isDone()) {
            // There is no deadline: meanwhile the administrator's list shows what it waits for.
            changed();
        }
        ready.whenComplete((done, failure) -> happenings.add(
                failure == null ? new Happening.PluginsReady() : new Happening.PluginsFailed(relay(failure))));
        Happening first = next();
        while (first instanceof Happening.PluginsChanged || first instanceof Happening.StoodStill) {
            report();
            first = next();
        }
        switch (first) {
            case Happening.PluginsReady _, Happening.PluginsChanged _, Happening.StoodStill _ -> {}
            case Happening.PluginsFailed failed -> {
                // The reason belongs into the administrator's list too, and this worker is about to end.
                report();
                throw failed.failure();
            }
            case Happening.ControlLost _ ->
                throw new RelayException(
                        FailureKind.UNAVAILABLE,
                        "the control connection to the daemon was lost before the worker was ready");
            case Happening.Drain drain -> happenings.add(drain);
            case Happening.Stop stop -> happenings.add(stop);
        }
    }

    private boolean endingAsked() {
        return happenings.stream()
                .anyMatch(happening -> happening instanceof Happening.Drain || happening instanceof Happening.Stop);
    }

    /** What comes next; the end of a connection that was replaced since, or never became a session, does not count. */
    private Happening next() throws InterruptedException {
        while (true) {
            Happening happening;
            try {
                admission.standstill().tick();
                happening = happenings.poll(Standstill.TICK_MS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                if (!endingAsked()) {
                    throw e;
                }
                continue;
            }
            if (happening != null
                    && (!(happening instanceof Happening.ControlLost lost) || lost.session() == sessions)) {
                return happening;
            }
        }
    }

    private Ending serve() throws InterruptedException {
        while (true) {
            switch (next()) {
                case Happening.Drain drain -> {
                    return drain(drain.deadlineNanos(), Ending.DRAINED);
                }
                case Happening.Stop _ -> {
                    long deadline = inFuture(longestDrainMs);
                    leave(deadline);
                    return drain(deadline, Ending.SIGNAL);
                }
                case Happening.ControlLost lost -> {
                    if (!recovered(lost.at() + TimeUnit.MILLISECONDS.toNanos(RetryPolicy.BUDGET_MS))) {
                        return drain(inFuture(longestDrainMs), Ending.CONTROL_LOST);
                    }
                }
                case Happening.PluginsChanged _, Happening.StoodStill _ -> report();
                // Told before the ending that stopped the wait for them, or after it.
                case Happening.PluginsReady _ -> {}
                case Happening.PluginsFailed _ -> {}
            }
        }
    }

    /**
     * Has the daemon send nothing more, and takes what it had sent before it knew: returns when nothing is under way, and at
     * once where the daemon cannot be asked.
     */
    private void leave(long deadlineNanos) {
        synchronized (stopAsked) {
            Thread.interrupted(); // by stop(), which is done: it would break what follows
        }
        try {
            if (!link.orElseThrow().leave()) {
                return;
            }
        } catch (RelayException e) {
            // Not published yet, or out of touch: nothing comes, or what comes is refused and passes by.
            return;
        }
        while (deadlineNanos - System.nanoTime() > 0) {
            try {
                admission.standstill().tick();
                long wait =
                        Math.min(deadlineNanos - System.nanoTime(), TimeUnit.MILLISECONDS.toNanos(Standstill.TICK_MS));
                Happening happening = happenings.poll(wait, TimeUnit.NANOSECONDS);
                if (happening instanceof Happening.Drain
                        || happening instanceof Happening.ControlLost lost && lost.session() == sessions) {
                    return;
                }
                if (happening instanceof Happening.StoodStill) {
                    report();
                }
            } catch (InterruptedException e) {
                // A second wish to stop changes nothing.
            }
        }
    }

    /** Stops taking requests and waits for those in flight; the first ending decides, so the queue is not read again. */
    private Ending drain(long deadlineNanos, Ending ending) {
        admission.stop();
        admission.standstill().rest();
        while (true) {
            try {
                boolean idle = admission.awaitIdle(TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime()));
                if (!idle) {
                    admission.overdue();
                }
                return idle || ending != Ending.DRAINED ? ending : Ending.DRAIN_DEADLINE;
            } catch (InterruptedException e) {
                // A second wish to stop changes nothing.
            }
        }
    }

    /** Comes back to the daemon within the time that it keeps this worker's generation (relay-daemon 5.8). */
    private boolean recovered(long deadline) {
        admission.controlLost();
        admission.standstill().rest();
        log.log(
                EventLog.Level.WARN,
                TARGET,
                "worker_control_lost",
                "Control connection to the daemon was lost; recovering");
        try {
            // A daemon that restarts refuses until the user's MCP process is back, so only its silence is final.
            RetryPolicy.mcp(deadline, limit -> {
                if (!endingAsked()) {
                    registered(daemon.recover(endpoint, new Control(++sessions), limit));
                    publish(deadline);
                }
                return true;
            });
        } catch (RelayException e) {
            if (endingAsked()) {
                return true; // a worker that is drained is not published any more; what was asked is next in the queue
            }
            log.log(
                    EventLog.Level.WARN,
                    TARGET,
                    "worker_control_recovery_failed",
                    "Control connection was not recovered: " + e.getMessage(),
                    "error_kind",
                    e.kind().word());
            return false;
        }
        log.log(EventLog.Level.INFO, TARGET, "worker_control_restored", "Control connection to the daemon is restored");
        return true;
    }

    private void registered(Daemon.Link registration) {
        link = Optional.of(registration);
        admission.issued(registration.dataToken());
    }

    /** The daemon probes, which opens admission, before it replies. */
    private void publish(long deadlineNanos) {
        link.orElseThrow().ready(deadlineNanos);
        report();
    }

    private void report() {
        try {
            Report report = Report.of(
                    plugins.status().stream()
                            .map(status -> report(status, plugins.planned()))
                            .toList(),
                    settings());
            if (whole && !report.whole()) {
                log.log(
                        EventLog.Level.WARN,
                        TARGET,
                        "report_shortened",
                        "plugins and settings of this worker are " + report.bytes() + " bytes, more than the "
                                + Report.MAX_BYTES
                                + " that it can tell the daemon: `nemo-relay config show --origin` does not"
                                + " show what is in force in it; write less into plugins.toml, such as a catalogue file instead"
                                + " of inline rates");
            }
            whole = report.whole();
            link.orElseThrow().report(report.plugins(), report.settings());
        } catch (RelayException e) {
            // What it is for is a list in `status`: the worker serves without.
            log.log(EventLog.Level.WARN, TARGET, "plugin_report_refused", e.getMessage());
        }
        // Its reply came after all that the daemon had said before; without one there is nobody to hear.
        admission.standstill().heard();
    }

    private List<SettingReport> settings() {
        return Stream.concat(surroundings.settings().stream(), plugins.settings().stream())
                .map(one -> new SettingReport(
                        one.name(), one.value().map(Json::write).orElse(""), one.source()))
                .toList();
    }

    private static PluginReport report(PluginStatus status, Map<String, Boolean> planned) {
        return new PluginReport(
                status.kind(),
                status.version(),
                status.state().name().toLowerCase(java.util.Locale.ROOT),
                status.file(),
                status.reason(),
                status.kind().isEmpty()
                        ? ""
                        : Optional.ofNullable(planned.get(status.kind()))
                                .map(required -> required ? "required" : "optional")
                                .orElse("no"),
                status.outdated());
    }

    private void stopped(String reason, Optional<RelayException> failure) {
        boolean failed = failure.isPresent();
        log.log(
                failed ? EventLog.Level.ERROR : EventLog.Level.INFO,
                TARGET,
                "worker_stopped",
                failed ? "Daemon worker failed: " + failure.get().getMessage() : "Daemon worker stopped",
                fields(reason, failure));
    }

    private Object[] fields(String reason, Optional<RelayException> failure) {
        return failure.<Object[]>map(e -> new Object[] {
                    "worker_id",
                    daemon.workerId(),
                    "reason",
                    reason,
                    "outcome",
                    "failure",
                    "error_kind",
                    e.kind().word()
                })
                .orElseGet(() -> new Object[] {"worker_id", daemon.workerId(), "reason", reason, "outcome", "success"});
    }

    private static RelayException relay(Throwable failure) {
        Throwable cause = failure instanceof java.util.concurrent.CompletionException && failure.getCause() != null
                ? failure.getCause()
                : failure;
        return cause instanceof RelayException relay
                ? relay
                : new RelayException(FailureKind.PLUGIN, "the plugins do not start: " + Reasons.of(cause), cause);
    }

    /** The relative limit, as the clocks of two machines need not agree; where the daemon's is ours, none outlives its deadline. */
    private long timeLeft(ServerEvent.Drain drain) {
        long left = Math.clamp(drain.timeoutMs(), 0, longestDrainMs);
        long deadline = drain.deadlineUnixMs();
        boolean known = surroundings.daemonHasThisClock() && deadline >= 0; // unsigned: beyond that is never
        return known ? Math.clamp(deadline - System.currentTimeMillis(), 0, left) : left;
    }

    private static long inFuture(long millis) {
        return System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    }

    /** Hears one control session, of which there is one after another. */
    private final class Control implements ControlListener {
        private final int number;

        Control(int number) {
            this.number = number;
        }

        @Override
        public void drain(ServerEvent.Drain drain) {
            if (!drainAsked.compareAndSet(false, true)) {
                return; // the first one holds, however often it is said
            }
            long left = timeLeft(drain);
            if (left == 0) {
                admission.overdue(); // this process stood still, and the requests in its sockets are being read as well
            }
            happenings.add(new Happening.Drain(inFuture(left)));
        }

        @Override
        public void disconnected() {
            happenings.add(new Happening.ControlLost(number, System.nanoTime()));
        }
    }
}
