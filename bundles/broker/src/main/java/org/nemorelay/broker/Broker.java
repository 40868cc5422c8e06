package org.nemorelay.broker;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.nemorelay.broker.Resolution.PassThrough;
import org.nemorelay.broker.Resolution.Reason;
import org.nemorelay.broker.Resolution.Unavailable;
import org.nemorelay.broker.StagedWorker.Permit;
import org.nemorelay.broker.Transition.McpRemoved;
import org.nemorelay.broker.Transition.McpRemoved.RouteAction;
import org.nemorelay.broker.Transition.WorkerRemoved;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.TokenDigest;
import org.nemorelay.protocol.control.CancelOutcome;

/**
 * The route state machine (relay-daemon 5). It does no I/O, starts no threads and reads no clock: {@code now} is
 * milliseconds of a monotonic clock that the caller owns, secrets are offered by the caller, and what a call caused comes
 * back as {@link Transition}s in order. After a call, and at {@link #nextWakeAt}, the caller calls {@link #advance}.
 *
 * <p>Safe for any thread. {@link #resolve} is the request path: it takes no lock and allocates the lease only.
 */
public final class Broker {
    private static final Directive WAIT = new Directive.WaitForWorker(100);
    private static final Directive USE_PASS_THROUGH = new Directive.UsePassThrough();
    private static final State EMPTY = new State.Empty();
    private static final long MAX_BACKOFF_MS = 60_000;
    private static final long DRAIN_LOOK_MS = 1_000;
    private static final long REFUSED_RECOVERY_RETRY_MS = 1_000;

    private final BrokerSettings settings;
    private final Resolution globalBound = new PassThrough(true, Reason.GLOBAL_PASS_THROUGH);
    private final Resolution globalUnbound = new PassThrough(false, Reason.GLOBAL_PASS_THROUGH);
    private final Resolution unbound;
    private final Resolution noSession;
    private final Map<Reason, Gate> closedGates;

    private final ConcurrentHashMap<TokenDigest, Binding> tokens = new ConcurrentHashMap<>();
    private final Map<Fingerprint, Route> routes = new HashMap<>();
    private final Map<String, Session> sessions = new HashMap<>();

    /** Routes by the id of their staged or assigned worker. */
    private final Map<String, Route> workers = new HashMap<>();

    private final TreeSet<Route> timers = new TreeSet<>(
            Comparator.<Route>comparingLong(route -> route.wakeAt).thenComparing(route -> route.fingerprint));
    private final LinkedHashSet<Route> evictable = new LinkedHashSet<>();
    private long lastSerial;

    public Broker(BrokerSettings settings) {
        this.settings = settings;
        this.unbound = closed(false, Reason.UNBOUND);
        this.noSession = closed(false, Reason.NO_SESSION);
        Map<Reason, Gate> gates = new HashMap<>();
        for (Reason reason : Reason.values()) {
            gates.put(reason, new Gate.Closed(closed(true, reason)));
        }
        this.closedGates = Map.copyOf(gates);
    }

    /** Whether no worker is ever launched. */
    public boolean passThrough() {
        return settings.passThrough();
    }

    /** Where a request with this token goes. A {@link WorkerLease} must be released when its response has ended. */
    public Resolution resolve(TokenDigest token) {
        Binding binding = tokens.get(token);
        if (settings.passThrough()) {
            return binding == null || binding.sessions == 0 ? globalUnbound : globalBound;
        }
        if (binding == null) {
            return unbound;
        }
        if (binding.sessions == 0) {
            return noSession;
        }
        Route route = binding.route;
        while (true) {
            switch (route.gate) {
                case Gate.Closed closed -> {
                    return closed.answer();
                }
                case Target target -> {
                    // Counted first, then looked at again: who closes the gate and then reads the count either sees
                    // this request or turns it away.
                    target.worker.inFlight.incrementAndGet();
                    if (route.gate == target) {
                        return new WorkerLease(target);
                    }
                    target.worker.inFlight.decrementAndGet();
                }
            }
        }
    }

    /** An MCP session's socket has proved its identity: first registration or return on a new socket. */
    public synchronized Outcome<Registration> registerMcp(
            McpRegistration request, GrantSecrets.Source grants, long now) {
        List<Transition> out = new ArrayList<>();
        Session session = sessions.get(request.sessionId());
        boolean added = session == null;
        if (added) {
            Binding bound = tokens.get(request.token());
            if (bound != null && !bound.route.fingerprint.equals(request.fingerprint())) {
                return refused(Refusal.TOKEN_BOUND_ELSEWHERE, out);
            }
            if (sessions.size() >= settings.maxSessions()) {
                return refused(Refusal.SESSION_CAPACITY, out);
            }
            Route route = routes.get(request.fingerprint());
            if (route == null) {
                if (routes.size() >= settings.maxRoutes() && !evictOne(out)) {
                    return refused(Refusal.ROUTE_CAPACITY, out);
                }
                route = addRoute(request.fingerprint());
            }
            if (route.sessions.size() >= settings.maxReferencesPerRoute()) {
                return refused(Refusal.REFERENCE_CAPACITY, out);
            }
            if (bound == null && !makeTokenRoom(route, out)) {
                return refused(Refusal.TOKEN_LIMIT, out);
            }
            session = new Session(request, bind(route, request.token()), WAIT);
            session.binding.sessions++;
            sessions.put(request.sessionId(), session);
            route.sessions.put(request.sessionId(), session);
        } else if (!session.registration.equals(request)) {
            return refused(Refusal.SESSION_BOUND_ELSEWHERE, out);
        } else {
            session.connected = true;
            bind(session.route, request.token());
        }
        Route route = session.route;
        step(route, request.sessionId(), grants, now, out);
        session.told = directive(route, session);
        if (added) {
            out.add(new Transition.McpAdded(route.fingerprint, session.id(), session.told));
        }
        settle(route, now, out);
        return new Outcome.Accepted<>(new Registration(session.told, added), out);
    }

    /** The session's control socket is gone; its reference stays for the grace. */
    public synchronized Outcome<Void> mcpDisconnected(String sessionId, long now) {
        List<Transition> out = new ArrayList<>();
        Session session = sessions.get(sessionId);
        if (session == null) {
            return refused(Refusal.UNKNOWN_SESSION, out);
        }
        if (session.connected) {
            session.connected = false;
            session.disconnectedAt = now;
            if (session.route.state instanceof State.Activating activating && activating.owner.equals(sessionId)) {
                cancel(session.route, activating, now, out);
            }
            settle(session.route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    /** The session ends. Unknown sessions are a no-op. */
    public synchronized Outcome<Void> releaseMcp(String sessionId, long now) {
        List<Transition> out = new ArrayList<>();
        Session session = sessions.get(sessionId);
        if (session != null) {
            remove(session, McpRemoved.Cause.RELEASED, now, out);
            settle(session.route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    /** The owner's launch failed. A launch that is no longer current is a no-op. */
    public synchronized Outcome<Void> activationFailed(String sessionId, String activationId, String reason, long now) {
        List<Transition> out = new ArrayList<>();
        Session session = sessions.get(sessionId);
        if (session == null) {
            return refused(Refusal.UNKNOWN_SESSION, out);
        }
        if (session.route.state instanceof State.Activating activating
                && activating.grant.activationId().equals(activationId)) {
            if (!activating.owner.equals(sessionId)) {
                return refused(Refusal.NOT_LAUNCH_OWNER, out);
            }
            fail(session.route, activating, reason, now, out);
            settle(session.route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    /** The owner gives its launch up, or asks what became of it. */
    public synchronized Outcome<CancelOutcome> cancelActivation(String sessionId, String activationId, long now) {
        List<Transition> out = new ArrayList<>();
        Session session = sessions.get(sessionId);
        if (session == null) {
            return refused(Refusal.UNKNOWN_SESSION, out);
        }
        if (session.route.state instanceof State.Activating activating
                && activating.grant.activationId().equals(activationId)) {
            if (!activating.owner.equals(sessionId)) {
                return refused(Refusal.NOT_LAUNCH_OWNER, out);
            }
            cancel(session.route, activating, now, out);
            settle(session.route, now, out);
            return new Outcome.Accepted<>(CancelOutcome.CANCELLED, out);
        }
        CancelOutcome outcome =
                session.route.wasPublished(activationId, now) ? CancelOutcome.PUBLISHED : CancelOutcome.SUPERSEDED;
        return new Outcome.Accepted<>(outcome, out);
    }

    /** A worker registers with its launch grant: staged, not routable. */
    public synchronized Outcome<StagedWorker> stageWorker(
            WorkerRegistration worker,
            String activationId,
            TokenDigest activationToken,
            WorkerSecrets offered,
            long now) {
        List<Transition> out = new ArrayList<>();
        Route route = routes.get(worker.fingerprint());
        if (route == null
                || !(route.state instanceof State.Activating activating)
                || !activating.grant.activationId().equals(activationId)
                || !TokenDigest.ofSecret(activating.grant.activationToken()).equals(activationToken)) {
            return refused(Refusal.GRANT_INVALID, out);
        }
        if (activating.staged.isPresent()) {
            Worker staged = activating.staged.get();
            if (!staged.sameAs(worker)) {
                return refused(Refusal.GRANT_INVALID, out);
            }
            staged.connected = true;
            staged.serial = ++lastSerial;
            return new Outcome.Accepted<>(staged(staged, Optional.empty()), out);
        }
        if (!Endpoints.allowed(activating.grant, worker)) {
            fail(route, activating, "endpoint_not_granted", now, out);
            settle(route, now, out);
            return refused(Refusal.ENDPOINT_NOT_GRANTED, out);
        }
        if (workers.containsKey(worker.workerId())) {
            return refused(Refusal.WORKER_ID_TAKEN, out);
        }
        Worker staged = new Worker(worker, offered.generationId(), Optional.of(activationId), offered.dataToken());
        staged.serial = ++lastSerial;
        activating.staged = Optional.of(staged);
        workers.put(staged.id, route);
        out.add(new Transition.WorkerStaged(route.fingerprint, staged.id, staged.endpoint, Publication.ACTIVATION));
        settle(route, now, out);
        return new Outcome.Accepted<>(staged(staged, Optional.empty()), out);
    }

    /**
     * A worker returns with the signed grant of its generation: within its grace, after a restart of the daemon, or while
     * draining. Not routable until {@link #publish}.
     */
    public synchronized Outcome<StagedWorker> recoverWorker(
            WorkerRegistration worker, String generationId, String offeredDataToken, long now) {
        List<Transition> out = new ArrayList<>();
        Route route = routes.get(worker.fingerprint());
        if (route == null) {
            return refused(Refusal.UNKNOWN_ROUTE, out);
        }
        if (route.state instanceof State.PassThrough passThrough && passThrough.permanent()) {
            return refused(Refusal.WRONG_STATE, out);
        }
        if (route.durable
                .filter(known -> known.generationId().equals(generationId))
                .isEmpty()) {
            return refused(Refusal.GENERATION_REVOKED, out);
        }
        return switch (route.state) {
            case State.Draining draining -> {
                Worker known = draining.worker();
                if (!known.sameAs(worker)) {
                    yield refused(Refusal.GENERATION_REVOKED, out);
                }
                known.connected = true;
                known.drainKnown = !known.acknowledgesDrain;
                known.serial = ++lastSerial;
                yield new Outcome.Accepted<>(staged(known, Optional.of(draining.deadline())), out);
            }
            case State.Ready ready -> {
                Worker known = ready.worker();
                if (!known.sameAs(worker)) {
                    yield refused(Refusal.GENERATION_REVOKED, out);
                }
                if (known.published) {
                    unpublish(known, now);
                }
                known.connected = true;
                yield stageRecovered(route, known, offeredDataToken, now, out);
            }
            case State.Recovering recovering -> {
                if (route.sessions.isEmpty()) {
                    yield refused(Refusal.NO_REFERENCES, out);
                }
                if (recovering.worker().isPresent()) {
                    Worker known = recovering.worker().get();
                    if (!known.sameAs(worker)) {
                        yield refused(Refusal.GENERATION_REVOKED, out);
                    }
                    known.connected = true;
                    yield stageRecovered(route, known, offeredDataToken, now, out);
                }
                if (Endpoints.parse(
                                worker.endpoint(), worker.tlsRootCertificate().isPresent())
                        .isEmpty()) {
                    revokeDurable(route, out);
                    become(route, new State.PassThrough(false, now + REFUSED_RECOVERY_RETRY_MS), out);
                    settle(route, now, out);
                    yield refused(Refusal.ENDPOINT_NOT_GRANTED, out);
                }
                if (workers.containsKey(worker.workerId())) {
                    yield refused(Refusal.WORKER_ID_TAKEN, out);
                }
                Worker recovered = new Worker(
                        worker, generationId, route.durable.flatMap(Generation::activationId), offeredDataToken);
                workers.put(recovered.id, route);
                become(route, new State.Recovering(Optional.of(recovered), recovering.deadline()), out);
                yield stageRecovered(route, recovered, offeredDataToken, now, out);
            }
            case State.Empty _, State.Activating _, State.PassThrough _ -> refused(Refusal.WRONG_STATE, out);
        };
    }

    /** Whether {@link #publish} would accept now; the value is the generation that must be on disk first, if it is not. */
    public synchronized Outcome<Optional<Generation>> publishable(Permit permit) {
        Optional<Refusal> refusal = refusal(permit);
        if (refusal.isPresent()) {
            return refused(refusal.get(), List.of());
        }
        Route route = workers.get(permit.workerId());
        Worker worker = pendingWorker(route).orElseThrow();
        Generation generation = new Generation(worker.generationId, worker.activationId);
        boolean onDisk = route.durable.filter(generation::equals).isPresent();
        return new Outcome.Accepted<>(onDisk ? Optional.empty() : Optional.of(generation), List.of());
    }

    /** The worker is ready, its probe was answered and its generation is on disk: requests go to it. Repeating is a no-op. */
    public synchronized Outcome<Void> publish(Permit permit, long now) {
        List<Transition> out = new ArrayList<>();
        Optional<Refusal> refusal = refusal(permit);
        if (refusal.isPresent()) {
            return refused(refusal.get(), out);
        }
        Route route = workers.get(permit.workerId());
        Worker worker = pendingWorker(route).orElseThrow();
        if (worker.published) {
            return new Outcome.Accepted<>(null, out);
        }
        worker.published = true;
        Optional<Long> elapsed = route.state instanceof State.Activating activating
                ? Optional.of(now - activating.startedAt)
                : Optional.empty();
        Generation generation = new Generation(worker.generationId, worker.activationId);
        route.durable = Optional.of(generation);
        route.attempts = 0;
        worker.activationId.ifPresent(id -> route.rememberPublished(id, now));
        become(route, new State.Ready(worker), out);
        out.add(new Transition.WorkerPublished(
                route.fingerprint,
                worker.id,
                worker.endpoint,
                generation,
                elapsed.isPresent() ? Publication.ACTIVATION : Publication.RECOVERY,
                elapsed));
        settle(route, now, out);
        return new Outcome.Accepted<>(null, out);
    }

    /** The worker's probe failed: a launch has failed with it; a worker that was published before keeps its grace. */
    public synchronized Outcome<Void> probeFailed(Permit permit, long now) {
        List<Transition> out = new ArrayList<>();
        Optional<Refusal> refusal = refusal(permit);
        if (refusal.isPresent()) {
            return refused(refusal.get(), out);
        }
        Route route = workers.get(permit.workerId());
        if (route.state instanceof State.Activating activating) {
            fail(route, activating, "readiness_probe_failed", now, out);
            settle(route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    /** The socket of this registration is gone. A registration that was replaced is a no-op. */
    public synchronized Outcome<Void> workerDisconnected(Permit permit, long now) {
        List<Transition> out = new ArrayList<>();
        Route route = workers.get(permit.workerId());
        if (route == null) {
            return refused(Refusal.UNKNOWN_WORKER, out);
        }
        Worker worker = anyWorker(route).orElseThrow();
        if (worker.serial == permit.serial()) {
            worker.connected = false;
            if (route.state instanceof State.Ready && worker.published) {
                unpublish(worker, now);
            }
            finishDrainIfDue(route, now, out);
            settle(route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    /** A request to the worker failed in transport. Failures of an earlier worker or publication change nothing. */
    public synchronized Outcome<Void> workerFailed(WorkerLease lease, long now) {
        List<Transition> out = new ArrayList<>();
        Worker worker = lease.target().worker;
        Route route = routes.get(worker.fingerprint);
        if (route == null || anyWorker(route).filter(known -> known == worker).isEmpty()) {
            return refused(Refusal.SUPERSEDED, out);
        }
        if (worker.draining) {
            return refused(Refusal.DRAINING, out);
        }
        if (route.gate == lease.target()) {
            unpublish(worker, now);
            worker.connected = false;
            out.add(new Transition.CommunicationFailed(route.fingerprint, worker.id));
            settle(route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    /** The worker knows that it drains. */
    public synchronized Outcome<Void> drainAcknowledged(String workerId, long now) {
        List<Transition> out = new ArrayList<>();
        Route route = workers.get(workerId);
        if (route == null || !(route.state instanceof State.Draining draining)) {
            return refused(Refusal.WRONG_STATE, out);
        }
        draining.worker().drainKnown = true;
        finishDrainIfDue(route, now, out);
        settle(route, now, out);
        return new Outcome.Accepted<>(null, out);
    }

    /** The last request of a draining worker has ended ({@link WorkerLease#release}). */
    public synchronized Outcome<Void> drainProgress(String workerId, long now) {
        List<Transition> out = new ArrayList<>();
        Route route = workers.get(workerId);
        if (route != null) {
            finishDrainIfDue(route, now, out);
            settle(route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    /** A generation from before a restart: its launches wait for it until {@code deadline}. */
    public synchronized List<Transition> restore(Fingerprint fingerprint, Generation generation, long deadline) {
        List<Transition> out = new ArrayList<>();
        if (settings.passThrough()) {
            out.add(new Transition.RecoveryExpired(fingerprint, generation.generationId()));
            return out;
        }
        Route route = addRoute(fingerprint);
        route.durable = Optional.of(generation);
        become(route, new State.Recovering(Optional.empty(), deadline), out);
        settle(route, deadline, out);
        return out;
    }

    /** Does everything that is due: graces, drains, retries, nominations, reports. */
    public synchronized List<Transition> advance(GrantSecrets.Source grants, long now) {
        List<Transition> out = new ArrayList<>();
        while (!timers.isEmpty() && timers.first().wakeAt <= now) {
            Route route = timers.pollFirst();
            route.wakeAt = Route.NEVER;
            step(route, "", grants, now, out);
            settle(route, now, out);
        }
        return out;
    }

    /** When {@link #advance} is due next; {@link Long#MAX_VALUE} for never. */
    public synchronized long nextWakeAt() {
        return timers.isEmpty() ? Route.NEVER : timers.first().wakeAt;
    }

    /** Every route, by fingerprint. */
    public synchronized List<RouteStatus> routes() {
        List<RouteStatus> all = new ArrayList<>();
        for (Route route : routes.values()) {
            all.add(status(route));
        }
        all.sort(Comparator.comparing(RouteStatus::fingerprint));
        return all;
    }

    /** Every assigned worker, by id (relay-daemon 2). */
    public synchronized List<RouteStatus.WorkerStatus> workers() {
        List<RouteStatus.WorkerStatus> all = new ArrayList<>();
        for (Route route : workers.values()) {
            workerStatus(route).ifPresent(all::add);
        }
        all.sort(Comparator.comparing(RouteStatus.WorkerStatus::workerId));
        return all;
    }

    /** Every session, by id. */
    public synchronized List<SessionStatus> sessions() {
        List<SessionStatus> all = new ArrayList<>();
        for (Session session : sessions.values()) {
            all.add(new SessionStatus(session.id(), session.route.fingerprint, session.connected));
        }
        all.sort(Comparator.comparing(SessionStatus::sessionId));
        return all;
    }

    // ---- what is due

    private void step(Route route, String registering, GrantSecrets.Source grants, long now, List<Transition> out) {
        for (Session session : List.copyOf(route.sessions.values())) {
            if (!session.connected && now - session.disconnectedAt >= settings.disconnectGraceMs()) {
                remove(session, McpRemoved.Cause.CONTROL_DISCONNECT_TIMEOUT, now, out);
            }
        }
        switch (route.state) {
            case State.Activating activating
            when now >= activating.reportAt -> {
                long elapsed = now - activating.startedAt;
                out.add(new Transition.StartupPending(route.fingerprint, elapsed));
                long reports = elapsed / settings.startupReportMs() + 1;
                activating.reportAt = activating.startedAt + reports * settings.startupReportMs();
            }
            case State.Ready ready
            when !ready.worker().published && now - ready.worker().unavailableSince >= settings.disconnectGraceMs() -> {
                Worker lost = ready.worker();
                workers.remove(lost.id);
                route.durable = Optional.empty();
                route.attempts = 0;
                out.add(new Transition.WorkerLost(route.fingerprint, lost.id, lost.generationId));
                become(route, new State.Recovering(Optional.empty(), now), out);
            }
            case State.Draining _ -> finishDrainIfDue(route, now, out);
            case State.Recovering recovering
            when now >= recovering.deadline() -> {
                recovering.worker().ifPresent(worker -> workers.remove(worker.id));
                revokeDurable(route, out);
                become(
                        route,
                        route.sessions.isEmpty()
                                ? EMPTY
                                : new State.Recovering(Optional.empty(), recovering.deadline()),
                        out);
            }
            default -> {}
        }
        nominate(route, registering, grants, now, out);
    }

    private boolean launchDue(Route route, long now) {
        return switch (route.state) {
            case State.Empty _ -> true;
            case State.PassThrough passThrough -> !passThrough.permanent() && now >= passThrough.retryAt();
            case State.Recovering recovering ->
                recovering.worker().isEmpty() && route.durable.isEmpty() && now >= recovering.deadline();
            case State.Activating _, State.Ready _, State.Draining _ -> false;
        };
    }

    private void nominate(Route route, String registering, GrantSecrets.Source grants, long now, List<Transition> out) {
        if (!launchDue(route, now)) {
            return;
        }
        route.candidate().ifPresent(session -> {
            GrantSecrets secrets = grants.next();
            NetworkHint network = session.registration.network();
            boolean loopback = network.loopback();
            LaunchGrant grant = new LaunchGrant(
                    secrets.activationId(),
                    secrets.activationToken(),
                    LaunchGrant.NO_DEADLINE,
                    loopback ? "127.0.0.1" : "0.0.0.0",
                    network.port(),
                    loopback ? Optional.empty() : Optional.of(network.advertisedHost()));
            route.attempts++;
            become(route, new State.Activating(session.id(), grant, now, now + settings.startupReportMs()), out);
            if (!session.id().equals(registering)) {
                out.add(new Transition.LaunchNominated(
                        route.fingerprint, session.id(), grant.activationId(), route.attempts));
            }
        });
    }

    private void remove(Session session, McpRemoved.Cause cause, long now, List<Transition> out) {
        Route route = session.route;
        sessions.remove(session.id());
        route.sessions.remove(session.id());
        session.binding.sessions--;
        boolean last = route.sessions.isEmpty();
        RouteAction action = switch (route.state) {
            case State.Activating activating
            when last || activating.owner.equals(session.id()) -> RouteAction.CANCEL_ACTIVATION;
            case State.Ready _ when last -> RouteAction.BEGIN_WORKER_DRAIN;
            case State.Recovering recovering
            when last && recovering.worker().isPresent() -> RouteAction.BEGIN_WORKER_DRAIN;
            default -> RouteAction.ROUTE_RETAINED;
        };
        out.add(new McpRemoved(route.fingerprint, session.id(), cause, action));
        switch (route.state) {
            case State.Activating activating
            when action == RouteAction.CANCEL_ACTIVATION -> cancel(route, activating, now, out);
            case State.Ready ready when last -> drain(route, ready.worker(), now, out);
            case State.Recovering recovering
            when last && recovering.worker().isPresent() ->
                drain(route, recovering.worker().get(), now, out);
            // While its saved generation may still come back, no launch of this user may overtake it.
            case State.Recovering _ when last && route.durable.isEmpty() -> become(route, EMPTY, out);
            case State.PassThrough passThrough when last && !passThrough.permanent() -> become(route, EMPTY, out);
            default -> {}
        }
    }

    // ---- transitions of one route

    private void become(Route route, State next, List<Transition> out) {
        RouteState from = route.state.kind();
        route.state = next;
        refreshGate(route);
        if (from != next.kind()) {
            out.add(new Transition.RouteChanged(route.fingerprint, from, next.kind()));
        }
    }

    private void cancel(Route route, State.Activating activating, long now, List<Transition> out) {
        activating.staged.ifPresent(worker -> workers.remove(worker.id));
        out.add(new Transition.ActivationCancelled(
                route.fingerprint, activating.grant.activationId(), activating.staged.map(worker -> worker.id)));
        become(route, route.sessions.isEmpty() ? EMPTY : new State.PassThrough(false, now), out);
    }

    private void fail(Route route, State.Activating activating, String reason, long now, List<Transition> out) {
        activating.staged.ifPresent(worker -> workers.remove(worker.id));
        long backoff = backoffMs(route.attempts);
        out.add(new Transition.ActivationFailed(
                route.fingerprint,
                activating.grant.activationId(),
                reason,
                backoff,
                activating.staged.map(worker -> worker.id)));
        become(route, route.sessions.isEmpty() ? EMPTY : new State.PassThrough(false, now + backoff), out);
    }

    private void drain(Route route, Worker worker, long now, List<Transition> out) {
        worker.draining = true;
        worker.published = false;
        worker.drainKnown = worker.connected && !worker.acknowledgesDrain;
        long deadline = now + settings.drainMs();
        become(route, new State.Draining(worker, deadline), out);
        out.add(new Transition.DrainBegan(route.fingerprint, worker.id, deadline, worker.inFlight.get()));
    }

    private void finishDrainIfDue(Route route, long now, List<Transition> out) {
        if (!(route.state instanceof State.Draining draining)) {
            return;
        }
        Worker worker = draining.worker();
        if (worker.exited() || now >= draining.deadline()) {
            workers.remove(worker.id);
            route.durable = Optional.empty();
            out.add(new WorkerRemoved(
                    route.fingerprint,
                    worker.id,
                    worker.generationId,
                    worker.exited() ? WorkerRemoved.Reason.DRAINED : WorkerRemoved.Reason.DRAIN_DEADLINE_REACHED));
            become(route, EMPTY, out);
        }
    }

    private void unpublish(Worker worker, long now) {
        worker.published = false;
        worker.unavailableSince = now;
        refreshGate(routes.get(worker.fingerprint));
    }

    private void revokeDurable(Route route, List<Transition> out) {
        route.durable.ifPresent(
                generation -> out.add(new Transition.RecoveryExpired(route.fingerprint, generation.generationId())));
        route.durable = Optional.empty();
    }

    private Outcome<StagedWorker> stageRecovered(
            Route route, Worker worker, String offeredDataToken, long now, List<Transition> out) {
        worker.dataToken = offeredDataToken;
        worker.serial = ++lastSerial;
        out.add(new Transition.WorkerStaged(route.fingerprint, worker.id, worker.endpoint, Publication.RECOVERY));
        settle(route, now, out);
        return new Outcome.Accepted<>(staged(worker, Optional.empty()), out);
    }

    private static StagedWorker staged(Worker worker, Optional<Long> drainDeadline) {
        return new StagedWorker(
                worker.generationId, worker.dataToken, new Permit(worker.id, worker.serial), drainDeadline);
    }

    private Optional<Refusal> refusal(Permit permit) {
        Route route = workers.get(permit.workerId());
        if (route == null) {
            return Optional.of(Refusal.SUPERSEDED);
        }
        if (route.state instanceof State.Draining) {
            return Optional.of(Refusal.DRAINING);
        }
        boolean current = pendingWorker(route)
                .filter(worker -> worker.serial == permit.serial() && worker.connected)
                .isPresent();
        return current ? Optional.empty() : Optional.of(Refusal.SUPERSEDED);
    }

    private static Optional<Worker> pendingWorker(Route route) {
        return switch (route.state) {
            case State.Activating activating -> activating.staged;
            case State.Ready ready -> Optional.of(ready.worker());
            case State.Recovering recovering -> recovering.worker();
            case State.Empty _, State.Draining _, State.PassThrough _ -> Optional.empty();
        };
    }

    private static Optional<Worker> anyWorker(Route route) {
        return route.state instanceof State.Draining draining ? Optional.of(draining.worker()) : pendingWorker(route);
    }

    // ---- after every change of a route

    private void settle(Route route, long now, List<Transition> out) {
        for (Session session : route.sessions.values()) {
            if (session.connected) {
                Directive directive = directive(route, session);
                if (!directive.equals(session.told)) {
                    session.told = directive;
                    out.add(new Transition.DirectiveChanged(session.id(), directive));
                }
            }
        }
        timers.remove(route);
        route.wakeAt = wakeAt(route, now);
        if (route.wakeAt != Route.NEVER) {
            timers.add(route);
        }
        if (route.evictable()) {
            evictable.add(route);
        } else {
            evictable.remove(route);
        }
    }

    private long wakeAt(Route route, long now) {
        boolean candidate = false;
        long at = Route.NEVER;
        for (Session session : route.sessions.values()) {
            candidate |= session.connected;
            if (!session.connected) {
                at = Math.min(at, session.disconnectedAt + settings.disconnectGraceMs());
            }
        }
        if (candidate && launchDue(route, now)) {
            return now;
        }
        return switch (route.state) {
            case State.Empty _ -> at;
            case State.Activating activating -> Math.min(at, activating.reportAt);
            case State.Ready ready ->
                ready.worker().published
                        ? at
                        : Math.min(at, ready.worker().unavailableSince + settings.disconnectGraceMs());
            // Requests that were turned away at the gate may hide the end of the last one: look again now and then.
            case State.Draining draining -> Math.min(at, Math.min(draining.deadline(), now + DRAIN_LOOK_MS));
            case State.PassThrough passThrough ->
                candidate && !passThrough.permanent() ? Math.min(at, passThrough.retryAt()) : at;
            case State.Recovering recovering ->
                route.durable.isPresent() || recovering.worker().isPresent() ? Math.min(at, recovering.deadline()) : at;
        };
    }

    private void refreshGate(Route route) {
        Gate current = route.gate;
        route.gate = switch (route.state) {
            case State.Empty _ -> closedGates.get(Reason.EMPTY);
            case State.Activating _ -> closedGates.get(Reason.ACTIVATING);
            case State.Ready ready -> {
                Worker worker = ready.worker();
                if (!worker.published) {
                    yield closedGates.get(Reason.CONTROL_UNAVAILABLE);
                }
                yield current instanceof Target target
                                && target.worker == worker
                                && target.dataToken.equals(worker.dataToken)
                        ? target
                        : new Target(worker, worker.dataToken);
            }
            case State.Draining _ -> closedGates.get(Reason.DRAINING);
            case State.PassThrough passThrough ->
                closedGates.get(passThrough.permanent() ? Reason.GLOBAL_PASS_THROUGH : Reason.FAILED);
            case State.Recovering _ -> closedGates.get(Reason.RECOVERING);
        };
    }

    private static Directive directive(Route route, Session session) {
        return switch (route.state) {
            case State.Activating activating
            when activating.owner.equals(session.id()) -> new Directive.LaunchWorker(activating.grant);
            case State.Ready ready when ready.worker().published -> new Directive.ReuseWorker(ready.worker().endpoint);
            case State.PassThrough _ -> USE_PASS_THROUGH;
            case State.Empty _, State.Activating _, State.Ready _, State.Draining _, State.Recovering _ -> WAIT;
        };
    }

    // ---- tables

    private Route addRoute(Fingerprint fingerprint) {
        State born = settings.passThrough() ? new State.PassThrough(true, Route.NEVER) : EMPTY;
        Route route = new Route(fingerprint, born, closedGates.get(Reason.EMPTY));
        refreshGate(route);
        routes.put(fingerprint, route);
        return route;
    }

    private boolean evictOne(List<Transition> out) {
        Iterator<Route> unused = evictable.iterator();
        if (!unused.hasNext()) {
            return false;
        }
        Route route = unused.next();
        unused.remove();
        timers.remove(route);
        routes.remove(route.fingerprint);
        route.tokens.keySet().forEach(tokens::remove);
        out.add(new Transition.RouteEvicted(route.fingerprint));
        return true;
    }

    /** Binds the token, or makes it the most recently registered one. */
    private Binding bind(Route route, TokenDigest token) {
        Binding binding = route.tokens.remove(token);
        if (binding == null) {
            binding = new Binding(route);
            tokens.put(token, binding);
        }
        route.tokens.put(token, binding);
        return binding;
    }

    private boolean makeTokenRoom(Route route, List<Transition> out) {
        if (route.tokens.size() < settings.maxTokensPerIdentity()) {
            return true;
        }
        Iterator<Map.Entry<TokenDigest, Binding>> oldest =
                route.tokens.entrySet().iterator();
        while (oldest.hasNext()) {
            Map.Entry<TokenDigest, Binding> entry = oldest.next();
            if (entry.getValue().sessions == 0) {
                oldest.remove();
                tokens.remove(entry.getKey());
                out.add(new Transition.TokenReleased(route.fingerprint));
                return true;
            }
        }
        return false;
    }

    private RouteStatus status(Route route) {
        int connected = 0;
        Collection<Session> all = route.sessions.values();
        for (Session session : all) {
            connected += session.connected ? 1 : 0;
        }
        return new RouteStatus(
                route.fingerprint, route.state.kind(), route.tokens.size(), all.size(), connected, workerStatus(route));
    }

    private static Optional<RouteStatus.WorkerStatus> workerStatus(Route route) {
        return route.assignedWorker()
                .map(worker -> new RouteStatus.WorkerStatus(
                        worker.id,
                        route.state.kind(),
                        route.sessions.size(),
                        worker.draining ? worker.connected : worker.published,
                        worker.inFlight.get()));
    }

    private static long backoffMs(int attempts) {
        return attempts > 6 ? MAX_BACKOFF_MS : 1_000L << Math.max(0, attempts - 1);
    }

    private Resolution closed(boolean bound, Reason reason) {
        return settings.requireWorker() ? new Unavailable(reason) : new PassThrough(bound, reason);
    }

    private static <T> Outcome<T> refused(Refusal refusal, List<Transition> out) {
        return new Outcome.Refused<>(refusal, out);
    }
}
