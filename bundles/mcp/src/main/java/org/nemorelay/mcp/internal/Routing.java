package org.nemorelay.mcp.internal;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.nemorelay.control.ControlClient;
import org.nemorelay.control.ControlListener;
import org.nemorelay.control.ControlSession;
import org.nemorelay.control.McpRegistration;
import org.nemorelay.control.NetworkHint;
import org.nemorelay.control.RetryPolicy;
import org.nemorelay.identity.ClientTls;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.Reasons;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.RouteToken;
import org.nemorelay.protocol.TimeScale;
import org.nemorelay.protocol.control.ActivationFailure;
import org.nemorelay.protocol.control.CancelOutcome;
import org.nemorelay.protocol.control.Capabilities;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.protocol.control.Role;
import org.nemorelay.protocol.control.ServerEvent;
import org.nemorelay.protocol.control.SessionPayload;
import org.nemorelay.telemetry.EventLog;

/**
 * Keeps this user's route on the daemon while the harness session lasts: registers, does what the daemon directs, comes
 * back after a lost connection (relay-daemon 5.9). {@link #run} has a thread of its own; {@link #release} may come from
 * any other.
 */
final class Routing implements Runnable {
    private static final String TARGET = "nemo_relay.daemon.mcp";
    private static final long CHILD_CHECK_MS = 100;
    private static final long USABLE_LIMIT_MS = 150_000;
    /** A connection that ends sooner than this is not followed by the next one at once. */
    private static final long SHORT_LIFE_NANOS = 2_000_000_000L;

    /** A daemon that is started anew is there sooner. */
    private static final long QUIET_NANOS = 3_000_000_000L;

    private static final long CANCEL_ON_EXIT_MS = 400;
    private static final long RELEASE_ON_EXIT_MS = 600;

    /** A worker is not up in less, and has nothing to lose yet. */
    private static final long YOUNG_NANOS = 1_000_000_000L;

    /** How long a worker that nobody wants may take to end by itself, while the session lasts and on the way out. */
    private static final long END_MS = 2_000;

    private static final long END_ON_EXIT_MS = 250;
    private static final int MAX_REASONS = 16;

    /** Hears how the route stands. */
    interface Host {
        /** The harness may go on: the session is registered, or is served without a route. Repeated calls are harmless. */
        void serve();

        /** The daemon cannot be had; the process has to end. */
        void fail(RelayException failure);
    }

    private final DaemonUrl daemon;
    private final RouteToken credential;
    private final Map<String, String> environment;
    private final StateFolder state;
    private final WorkerStarter starter;
    private final EventLog log;
    private final Host host;
    private final Ids ids = new Ids();
    private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();

    // Of the routing thread.
    private ControlClient client;
    private Listener listener;
    private long connectedAt;
    private int shortLives;
    private boolean served;
    private long usableDeadline;
    private String lastActivation = "";
    private boolean toldRefused;
    private boolean toldWaiting;
    private long tryingSince;

    /** Of the thread of the connection. */
    private final Set<String> unreachableFor = ConcurrentHashMap.newKeySet();

    private volatile ControlSession session;
    private volatile boolean stopping;

    // Guarded by `this`: a launch stays until it is settled, and the end of the session waits for whoever does that.
    private Launch launch;
    private boolean settling;

    /** A worker that is starting. */
    private record Launch(String activationId, Process process, long startedAt) {
        /** Asks it to end; a Java runtime that is asked before it is up complains of that on standard error. */
        void ask() {
            if (System.nanoTime() - startedAt < YOUNG_NANOS) {
                process.destroyForcibly();
            } else {
                process.destroy();
            }
        }

        /** Ends a worker that nobody wants and nobody else would end, whatever it makes of being asked. */
        void end(long patienceMs) {
            ask();
            try {
                if (!process.waitFor(patienceMs, TimeUnit.MILLISECONDS)) {
                    process.destroyForcibly();
                }
            } catch (InterruptedException e) {
                process.destroyForcibly();
                Thread.currentThread().interrupt();
            }
        }
    }

    /** What the daemon says of a launch that is left. */
    private enum Fate {
        PUBLISHED,
        UNWANTED,
        /** No answer. */
        UNKNOWN
    }

    /** Something a connection said; no directive means that it ended, at that {@link System#nanoTime()}. */
    private record Event(Listener source, Optional<Directive> directive, long at) {}

    Routing(
            DaemonUrl daemon,
            RouteToken credential,
            Map<String, String> environment,
            StateFolder state,
            WorkerStarter starter,
            EventLog log,
            Host host) {
        this.daemon = daemon;
        this.credential = credential;
        this.environment = environment;
        this.state = state;
        this.starter = starter;
        this.log = log;
        this.host = host;
    }

    @Override
    public void run() {
        String phase = "registration";
        try {
            client = new ControlClient(
                    daemon,
                    Role.MCP,
                    ids.uuid7(),
                    state.machineIdentity(),
                    state.pins(),
                    ids,
                    new ClientTls(environment));
            usableDeadline = System.nanoTime()
                    + TimeUnit.MILLISECONDS.toNanos(TimeScale.of(environment).ms(USABLE_LIMIT_MS));
            Directive first = connect(RetryPolicy.deadline());
            phase = "reregistration";
            follow(first);
        } catch (RelayException e) {
            if (stopping) {
                return;
            }
            abandon();
            if (e.kind() == FailureKind.CREDENTIAL_REJECTED) {
                passThrough(phase);
            } else {
                host.fail(e);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            abandon();
            host.fail(new RelayException(FailureKind.INTERNAL, "the route cannot be kept: " + Reasons.defect(e), e));
        }
    }

    /**
     * Gives the route back before the process ends; takes about a second at most. A worker that is still starting stays only if
     * the daemon says that it serves: there will be nobody else to end one that hangs.
     */
    void release() {
        stopping = true;
        ControlSession current = session;
        boolean connected = current != null && current.connected();
        Optional<Launch> pending = unsettled(CANCEL_ON_EXIT_MS);
        boolean unwanted = pending.isPresent()
                && !(connected
                        && current.daemon().offers(Capabilities.ACTIVATION_CANCEL)
                        && fate(current, pending.get(), CANCEL_ON_EXIT_MS) == Fate.PUBLISHED);
        if (unwanted) {
            pending.get().ask();
        }
        if (connected) {
            try {
                current.request(new SessionPayload.Release(), RELEASE_ON_EXIT_MS);
            } catch (RelayException e) {
                // the daemon notices by itself that this session is gone
            }
            current.close();
        }
        if (unwanted) {
            pending.get().end(END_ON_EXIT_MS);
        }
    }

    /** The launch that nobody else has settled by then. */
    private synchronized Optional<Launch> unsettled(long patienceMs) {
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMs);
        try {
            for (long left = patienceMs; settling && launch != null && left > 0; ) {
                wait(left);
                left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return Optional.ofNullable(launch);
    }

    /** Ends a starting worker whose route cannot be kept. */
    private void abandon() {
        Optional<Launch> pending = unsettled(0);
        if (pending.isPresent()) {
            pending.get().end(END_ON_EXIT_MS);
            settled();
        }
    }

    private void follow(Directive first) throws InterruptedException {
        Optional<Directive> next = Optional.of(first);
        while (!stopping) {
            if (next.isPresent()) {
                next = obey(next.get());
                continue;
            }
            Event event = pending() ? events.poll(CHILD_CHECK_MS, TimeUnit.MILLISECONDS) : events.take();
            if (event == null) {
                next = checkLaunch();
            } else if (event.source == listener) {
                next = event.directive.isPresent() ? event.directive : Optional.of(reconnect(event.at));
            } // else: of a connection that has been replaced
        }
    }

    private synchronized boolean pending() {
        return launch != null || !served;
    }

    /** Registers before the deadline and says what the daemon wants first. */
    private Directive connect(long deadline) {
        McpRegistration registration;
        toldWaiting = false;
        tryingSince = System.nanoTime();
        try {
            registration = RetryPolicy.mcp(deadline, new Attempt());
        } catch (RelayException e) {
            if (RetryPolicy.definitiveForMcp(e.kind())) {
                throw e;
            }
            throw new RelayException(
                    e.kind(), e.getMessage() + "; the control reconnect grace period of 30 s expired", e);
        }
        ControlSession previous = session;
        session = registration.session();
        if (previous != null) {
            previous.close();
        }
        connectedAt = System.nanoTime();
        if (stopping) {
            release();
        } else if (registration.session().daemon().offers(Capabilities.ACTIVATION_CANCEL)) {
            serve();
        }
        return registration.directive();
    }

    private final class Attempt implements RetryPolicy.Attempt<McpRegistration> {
        @Override
        public McpRegistration before(long deadlineNanos) {
            if (stopping) {
                throw new RelayException(FailureKind.INVALID_ARGUMENT, "this process is ending");
            }
            listener = new Listener();
            try {
                return client.registerMcp(credential, NetworkHint.of(daemon, environment), listener, deadlineNanos);
            } catch (RelayException e) {
                if (e.kind() == FailureKind.LIMIT_REACHED) {
                    refused(e);
                } else if (!RetryPolicy.definitiveForMcp(e.kind())) {
                    waiting(e);
                }
                throw e;
            }
        }
    }

    private final class Listener implements ControlListener {
        @Override
        public boolean directive(Directive directive) {
            return events.size() < MAX_QUEUED && events.add(new Event(this, Optional.of(directive), System.nanoTime()));
        }

        @Override
        public void unreachable(ServerEvent.WorkerUnreachable unreachable) {
            tellUnreachable(unreachable);
        }

        @Override
        public void disconnected() {
            events.add(new Event(this, Optional.empty(), System.nanoTime()));
        }
    }

    /** The harness waits meanwhile, and nobody else would say for what; once is enough. */
    private void refused(RelayException failure) {
        if (!toldRefused) {
            toldRefused = true;
            log.log(
                    EventLog.Level.ERROR,
                    TARGET,
                    "daemon_mcp_refused",
                    failure.getMessage() + "; trying again for 30 s",
                    "error_kind",
                    failure.kind().word());
        }
    }

    /** A harness that does not wait for so long as this client tries ends it before the last line of all. */
    private void waiting(RelayException failure) {
        if (!toldWaiting && System.nanoTime() - tryingSince >= QUIET_NANOS) {
            toldWaiting = true;
            log.log(
                    EventLog.Level.ERROR,
                    TARGET,
                    "daemon_mcp_waiting",
                    failure.getMessage() + "; trying again for 30 s in all",
                    "error_kind",
                    failure.kind().word());
        }
    }

    /** At each start of a worker anew, with another port: told once for each reason. */
    private void tellUnreachable(ServerEvent.WorkerUnreachable unreachable) {
        boolean fresh = unreachableFor.size() < MAX_REASONS && unreachableFor.add(unreachable.reason());
        if (fresh) {
            log.log(
                    EventLog.Level.ERROR,
                    TARGET,
                    "worker_unreachable",
                    "The daemon cannot reach this user's worker at " + unreachable.endpoint() + ": "
                            + unreachable.reason() + "; requests pass by the worker and its plugins until it can",
                    "error_kind",
                    FailureKind.UPSTREAM.word());
        }
    }

    /** @param since when the connection was lost: the daemon counts from there, whatever this process did meanwhile */
    private Directive reconnect(long since) throws InterruptedException {
        long deadline = since + TimeUnit.MILLISECONDS.toNanos(RetryPolicy.BUDGET_MS);
        if (System.nanoTime() - connectedAt < SHORT_LIFE_NANOS) {
            Thread.sleep(RetryPolicy.delay(++shortLives));
        } else {
            shortLives = 0;
        }
        return connect(deadline);
    }

    /** Does what the daemon wants; returns what it wants next, where doing it failed. */
    private Optional<Directive> obey(Directive directive) throws InterruptedException {
        // Tests in a row: a pattern switch costs milliseconds at its first use.
        if (directive instanceof Directive.LaunchWorker launchWorker) {
            return start(launchWorker.grant());
        }
        if (directive instanceof Directive.ReuseWorker || directive instanceof Directive.UsePassThrough) {
            leaveLaunch();
            serve();
        }
        // Waiting is all there is to do about WaitForWorker.
        return Optional.empty();
    }

    private Optional<Directive> start(LaunchGrant grant) throws InterruptedException {
        if (grant.activationId().equals(lastActivation)) {
            return Optional.empty(); // told twice: in the reply and as an event
        }
        if (!leaveLaunch()) {
            return Optional.empty(); // told again by the next connection
        }
        lastActivation = grant.activationId();
        try {
            // As one: a session that ends meanwhile would leave the process to nobody.
            synchronized (this) {
                if (!stopping) {
                    launch = new Launch(grant.activationId(), starter.start(grant), System.nanoTime());
                }
            }
            return Optional.empty();
        } catch (WorkerStarter.StartFailure e) {
            return Optional.of(failed(FailureKind.INTERNAL, e.reason(), e.getMessage()));
        }
    }

    /** Looks after the starting worker. */
    private Optional<Directive> checkLaunch() throws InterruptedException {
        if (!served && System.nanoTime() - usableDeadline >= 0) {
            serve();
        }
        Launch dead;
        synchronized (this) {
            if (launch == null || launch.process.isAlive()) {
                return Optional.empty();
            }
            dead = launch;
            launch = null;
        }
        return Optional.of(failed(
                FailureKind.UNAVAILABLE,
                ActivationFailure.EXITED_BEFORE_READY,
                "the worker exited with status " + dead.process.exitValue() + " before it was ready"));
    }

    /** Tells the daemon, and asks it for the route again. */
    private Directive failed(FailureKind kind, ActivationFailure reason, String message) throws InterruptedException {
        log.log(
                EventLog.Level.ERROR,
                TARGET,
                "worker_launch_failed",
                "MCP could not activate the broker-selected worker: " + message,
                "error_kind",
                kind.word(),
                "failure_reason",
                reason.word());
        try {
            session.request(new SessionPayload.ActivationFailed(lastActivation, reason));
        } catch (RelayException e) {
            // A daemon that cannot be told has forgotten the launch, or hears of it with the next registration.
        }
        return reconnect(System.nanoTime());
    }

    /** Settles the launch, if there is one; false when the daemon did not say how, so that it has to be asked again. */
    private boolean leaveLaunch() {
        Launch left;
        synchronized (this) {
            if (launch == null) {
                return true;
            }
            left = launch;
            settling = true;
        }
        Fate fate = session.daemon().offers(Capabilities.ACTIVATION_CANCEL)
                ? fate(session, left, ControlSession.REQUEST_TIMEOUT_MS)
                : Fate.PUBLISHED; // nobody can tell: it is left alone
        if (fate == Fate.UNWANTED) {
            left.end(END_MS);
        }
        synchronized (this) {
            settling = false;
            if (fate != Fate.UNKNOWN) {
                launch = null;
            }
            notifyAll();
        }
        return fate != Fate.UNKNOWN;
    }

    private synchronized void settled() {
        launch = null;
    }

    private static Fate fate(ControlSession current, Launch left, long timeoutMs) {
        SessionPayload cancel = new SessionPayload.CancelActivation(left.activationId);
        try {
            return current.request(cancel, timeoutMs) instanceof ReplyBody.ActivationCancelled cancelled
                            && cancelled.outcome() == CancelOutcome.PUBLISHED
                    ? Fate.PUBLISHED
                    : Fate.UNWANTED;
        } catch (RelayException e) {
            return e.kind() == FailureKind.TIMEOUT || e.kind() == FailureKind.UNAVAILABLE
                    ? Fate.UNKNOWN
                    : Fate.UNWANTED;
        }
    }

    private void serve() {
        if (!served) {
            served = true;
            log.log(
                    EventLog.Level.INFO,
                    TARGET,
                    "daemon_mcp_ready",
                    "Broker reference acquired; MCP protocol is ready");
            host.serve();
        }
    }

    private void passThrough(String phase) {
        Object[] fields = phase.equals("registration")
                ? new Object[] {"route_mode", "pass_through", "reason", FailureKind.CREDENTIAL_REJECTED.word()}
                : new Object[] {
                    "route_mode", "pass_through", "reason", FailureKind.CREDENTIAL_REJECTED.word(), "phase", phase
                };
        // An error, unlike the stock's warning: nobody chose this, and the user's plugins do not run.
        log.log(
                EventLog.Level.ERROR,
                TARGET,
                "daemon_mcp_pass_through",
                "The daemon rejected the client token: it belongs to another user, or this user holds too many; serving MCP"
                        + " without a daemon route, so no worker and no plugins",
                fields);
        served = true;
        host.serve();
    }
}
