package org.nemorelay.broker;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.broker.Transition.DrainBegan.Cause;
import org.nemorelay.broker.Transition.McpRemoved;
import org.nemorelay.broker.Transition.McpRemoved.RouteAction;
import org.nemorelay.broker.Transition.WorkerRemoved;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.LaunchGrant;

/** How a route goes from state to state, what time does to it, and what its sessions are told of it (relay-daemon 5.2, 5.3). */
final class Lifecycle {
    static final Directive WAIT = new Directive.WaitForWorker(100);
    private static final Directive USE_PASS_THROUGH = new Directive.UsePassThrough();
    static final State EMPTY = new State.Empty();
    private static final long MAX_BACKOFF_MS = 60_000;
    private static final long DRAIN_LOOK_MS = 1_000;

    private final BrokerSettings settings;
    private final Tables tables;
    private final Gates gates;

    Lifecycle(BrokerSettings settings, Tables tables, Gates gates) {
        this.settings = settings;
        this.tables = tables;
        this.gates = gates;
    }

    Route addRoute(Fingerprint fingerprint) {
        State born = settings.passThrough() ? new State.PassThrough(true, Route.NEVER) : EMPTY;
        Route route = new Route(fingerprint, born, gates.empty, settings.publishedMemoryMs());
        refreshGate(route);
        tables.routes.put(fingerprint, route);
        return route;
    }

    // ---- what is due

    List<Transition> restore(Fingerprint fingerprint, Generation generation, long deadline) {
        List<Transition> out = new ArrayList<>();
        if (settings.passThrough()) {
            out.add(new Transition.RecoveryExpired(fingerprint, generation.generationId(), Optional.empty()));
            return out;
        }
        Route route = addRoute(fingerprint);
        route.durable = Optional.of(generation);
        become(route, new State.Recovering(Optional.empty(), deadline), out);
        settle(route, deadline, out);
        return out;
    }

    /** In pass-through, which launches nothing, nobody waits for it. */
    List<Transition> restoreDraining(
            Fingerprint fingerprint, String generationId, String workerId, String endpoint, long deadline) {
        List<Transition> out = new ArrayList<>();
        if (settings.passThrough()) {
            out.add(new Transition.RecoveryExpired(fingerprint, generationId, Optional.empty()));
            return out;
        }
        Route route = addRoute(fingerprint);
        Worker worker = new Worker(
                new WorkerRegistration(fingerprint, workerId, endpoint, Optional.empty(), true),
                generationId,
                Optional.empty(),
                "");
        worker.connected = false;
        worker.draining = true;
        route.durable = Optional.of(new Generation(generationId, Optional.empty()));
        tables.workers.put(workerId, route);
        become(route, new State.Draining(worker, deadline), out);
        settle(route, deadline, out);
        return out;
    }

    List<Transition> advance(GrantSecrets.Source grants, long now) {
        List<Transition> out = new ArrayList<>();
        while (!tables.timers.isEmpty() && tables.timers.first().wakeAt <= now) {
            Route route = tables.timers.pollFirst();
            route.wakeAt = Route.NEVER;
            step(route, "", grants, now, out);
            settle(route, now, out);
        }
        return out;
    }

    long nextWakeAt() {
        return tables.timers.isEmpty() ? Route.NEVER : tables.timers.first().wakeAt;
    }

    void step(Route route, String registering, GrantSecrets.Source grants, long now, List<Transition> out) {
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
                tables.workers.remove(lost.id);
                route.durable = Optional.empty();
                out.add(new Transition.WorkerLost(route.fingerprint, lost.id, lost.generationId));
                become(route, new State.Recovering(Optional.empty(), now), out);
            }
            case State.Draining _ -> finishDrainIfDue(route, now, out);
            case State.Recovering recovering
            when now >= recovering.deadline() -> {
                Optional<String> returning = recovering.worker().map(worker -> worker.id);
                returning.ifPresent(tables.workers::remove);
                revokeDurable(route, returning, out);
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

    void remove(Session session, McpRemoved.Cause cause, long now, List<Transition> out) {
        Route route = session.route;
        tables.sessions.remove(session.id());
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
            case State.Ready ready when last -> drain(route, ready.worker(), Cause.LAST_SESSION_LEFT, now, out);
            case State.Recovering recovering
            when last && recovering.worker().isPresent() ->
                drain(route, recovering.worker().get(), Cause.LAST_SESSION_LEFT, now, out);
            // Nothing can come back: it waited for a session that launches.
            case State.Recovering _ when last && route.durable.isEmpty() -> become(route, EMPTY, out);
            case State.PassThrough passThrough when last && !passThrough.permanent() -> become(route, EMPTY, out);
            // Recovering: while its saved generation may still come back, no launch of this user may overtake it.
            default -> {}
        }
    }

    // ---- transitions of one route

    void become(Route route, State next, List<Transition> out) {
        RouteState from = route.state.kind();
        route.state = next;
        refreshGate(route);
        if (from != next.kind()) {
            out.add(new Transition.RouteChanged(route.fingerprint, from, next.kind()));
        }
    }

    void cancel(Route route, State.Activating activating, long now, List<Transition> out) {
        activating.staged.ifPresent(worker -> tables.workers.remove(worker.id));
        out.add(new Transition.ActivationCancelled(
                route.fingerprint, activating.grant.activationId(), activating.staged.map(worker -> worker.id)));
        become(route, route.sessions.isEmpty() ? EMPTY : new State.PassThrough(false, now), out);
    }

    void fail(Route route, State.Activating activating, String reason, long now, List<Transition> out) {
        activating.staged.ifPresent(worker -> tables.workers.remove(worker.id));
        long backoff = backoffMs(route.attempts);
        out.add(new Transition.ActivationFailed(
                route.fingerprint,
                activating.grant.activationId(),
                reason,
                backoff,
                activating.staged.map(worker -> worker.id)));
        become(route, new State.PassThrough(false, now + backoff), out);
    }

    void drain(Route route, Worker worker, Cause cause, long now, List<Transition> out) {
        worker.draining = true;
        worker.published = false;
        worker.leaving = cause == Cause.WORKER_LEAVES;
        worker.drainKnown = worker.leaving || worker.connected && !worker.acknowledgesDrain;
        long deadline = now + settings.drainMs();
        become(route, new State.Draining(worker, deadline), out);
        out.add(new Transition.DrainBegan(
                route.fingerprint,
                worker.id,
                worker.generationId,
                worker.endpoint,
                deadline,
                worker.inFlight.get(),
                cause));
    }

    void finishDrainIfDue(Route route, long now, List<Transition> out) {
        if (!(route.state instanceof State.Draining draining)) {
            return;
        }
        Worker worker = draining.worker();
        if (worker.leaving && worker.inFlight.get() == 0) {
            worker.leaving = false;
            out.add(new Transition.LeaveGranted(route.fingerprint, worker.id));
        }
        if (worker.exited() || now >= draining.deadline()) {
            tables.workers.remove(worker.id);
            route.durable = Optional.empty();
            out.add(new WorkerRemoved(
                    route.fingerprint,
                    worker.id,
                    worker.generationId,
                    worker.exited() ? WorkerRemoved.Reason.DRAINED : WorkerRemoved.Reason.DRAIN_DEADLINE_REACHED));
            become(route, EMPTY, out);
        }
    }

    void unpublish(Worker worker, long now) {
        worker.published = false;
        worker.unavailableSince = now;
        refreshGate(tables.routes.get(worker.fingerprint));
    }

    void revokeDurable(Route route, Optional<String> workerId, List<Transition> out) {
        route.durable.ifPresent(generation ->
                out.add(new Transition.RecoveryExpired(route.fingerprint, generation.generationId(), workerId)));
        route.durable = Optional.empty();
    }

    // ---- after every change of a route

    void settle(Route route, long now, List<Transition> out) {
        for (Session session : route.sessions.values()) {
            if (session.connected) {
                Directive directive = directive(route, session);
                if (!directive.equals(session.told)) {
                    session.told = directive;
                    out.add(new Transition.DirectiveChanged(session.id(), directive));
                }
            }
        }
        tables.timers.remove(route);
        route.wakeAt = wakeAt(route, now);
        if (route.wakeAt != Route.NEVER) {
            tables.timers.add(route);
        }
        if (route.evictable()) {
            tables.evictable.add(route);
        } else {
            tables.evictable.remove(route);
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
        route.gate = gates.of(route.state, route.gate);
    }

    static Directive directive(Route route, Session session) {
        return switch (route.state) {
            case State.Activating activating
            when activating.owner.equals(session.id()) -> new Directive.LaunchWorker(activating.grant);
            case State.Ready ready when ready.worker().published -> new Directive.ReuseWorker(ready.worker().endpoint);
            case State.PassThrough _ -> USE_PASS_THROUGH;
            case State.Empty _, State.Activating _, State.Ready _, State.Draining _, State.Recovering _ -> WAIT;
        };
    }

    private static long backoffMs(int attempts) {
        return attempts > 6 ? MAX_BACKOFF_MS : 1_000L << Math.max(0, attempts - 1);
    }
}
