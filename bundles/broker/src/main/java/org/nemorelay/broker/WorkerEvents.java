package org.nemorelay.broker;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.broker.StagedWorker.Permit;
import org.nemorelay.broker.Transition.DrainBegan.Cause;
import org.nemorelay.protocol.TokenDigest;

/** What workers do: see {@link Broker}, whose lock is held here. */
final class WorkerEvents {
    private static final long REFUSED_RECOVERY_RETRY_MS = 1_000;

    private final Tables tables;
    private final Lifecycle lifecycle;
    private long lastSerial;

    WorkerEvents(Tables tables, Lifecycle lifecycle) {
        this.tables = tables;
        this.lifecycle = lifecycle;
    }

    Outcome<StagedWorker> stage(
            WorkerRegistration worker,
            String activationId,
            TokenDigest activationToken,
            WorkerSecrets offered,
            long now) {
        List<Transition> out = new ArrayList<>();
        Route route = tables.routes.get(worker.fingerprint());
        if (route == null
                || !(route.state instanceof State.Activating activating)
                || !activating.grant.activationId().equals(activationId)
                || !TokenDigest.ofSecret(activating.grant.activationToken()).equals(activationToken)) {
            return new Outcome.Refused<>(Refusal.GRANT_INVALID, out);
        }
        if (activating.staged.isPresent()) {
            Worker staged = activating.staged.get();
            if (!staged.sameAs(worker)) {
                return new Outcome.Refused<>(Refusal.GRANT_INVALID, out);
            }
            staged.connected = true;
            staged.serial = ++lastSerial;
            return new Outcome.Accepted<>(staged(staged, Optional.empty()), out);
        }
        if (!Endpoints.allowed(activating.grant, worker)) {
            lifecycle.fail(route, activating, "endpoint_not_granted", now, out);
            lifecycle.settle(route, now, out);
            return new Outcome.Refused<>(Refusal.ENDPOINT_NOT_GRANTED, out);
        }
        if (tables.workers.containsKey(worker.workerId())) {
            return new Outcome.Refused<>(Refusal.WORKER_ID_TAKEN, out);
        }
        Worker staged = new Worker(worker, offered.generationId(), Optional.of(activationId), offered.dataToken());
        staged.serial = ++lastSerial;
        activating.staged = Optional.of(staged);
        tables.workers.put(staged.id, route);
        out.add(new Transition.WorkerStaged(route.fingerprint, staged.id, staged.endpoint, Publication.ACTIVATION));
        lifecycle.settle(route, now, out);
        return new Outcome.Accepted<>(staged(staged, Optional.empty()), out);
    }

    Outcome<StagedWorker> recover(WorkerRegistration worker, String generationId, String offeredDataToken, long now) {
        List<Transition> out = new ArrayList<>();
        Route route = tables.routes.get(worker.fingerprint());
        if (route == null) {
            return new Outcome.Refused<>(Refusal.UNKNOWN_ROUTE, out);
        }
        if (route.state instanceof State.PassThrough passThrough && passThrough.permanent()) {
            return new Outcome.Refused<>(Refusal.WRONG_STATE, out);
        }
        if (route.durable
                .filter(known -> known.generationId().equals(generationId))
                .isEmpty()) {
            return new Outcome.Refused<>(Refusal.GENERATION_REVOKED, out);
        }
        return switch (route.state) {
            case State.Draining draining -> {
                Worker known = draining.worker();
                // It gets no requests any more: its root is nothing to compare, and no record keeps it.
                if (!known.id.equals(worker.workerId()) || !known.endpoint.equals(worker.endpoint())) {
                    yield new Outcome.Refused<>(Refusal.GENERATION_REVOKED, out);
                }
                known.connected = true;
                known.ended = false;
                known.drainKnown = !worker.acknowledgesDrain();
                known.serial = ++lastSerial;
                yield new Outcome.Accepted<>(staged(known, Optional.of(draining.deadline())), out);
            }
            case State.Ready ready -> {
                Worker known = ready.worker();
                if (!known.sameAs(worker)) {
                    yield new Outcome.Refused<>(Refusal.GENERATION_REVOKED, out);
                }
                if (known.published) {
                    lifecycle.unpublish(known, now);
                }
                known.connected = true;
                yield stageRecovered(route, known, offeredDataToken, now, out);
            }
            case State.Recovering recovering -> {
                if (route.sessions.isEmpty()) {
                    yield new Outcome.Refused<>(Refusal.NO_REFERENCES, out);
                }
                if (recovering.worker().isPresent()) {
                    Worker known = recovering.worker().get();
                    if (!known.sameAs(worker)) {
                        yield new Outcome.Refused<>(Refusal.GENERATION_REVOKED, out);
                    }
                    known.connected = true;
                    yield stageRecovered(route, known, offeredDataToken, now, out);
                }
                if (Endpoints.parse(
                                worker.endpoint(), worker.tlsRootCertificate().isPresent())
                        .isEmpty()) {
                    lifecycle.revokeDurable(route, Optional.empty(), out);
                    lifecycle.become(route, new State.PassThrough(false, now + REFUSED_RECOVERY_RETRY_MS), out);
                    lifecycle.settle(route, now, out);
                    yield new Outcome.Refused<>(Refusal.ENDPOINT_NOT_GRANTED, out);
                }
                if (tables.workers.containsKey(worker.workerId())) {
                    yield new Outcome.Refused<>(Refusal.WORKER_ID_TAKEN, out);
                }
                Worker recovered = new Worker(
                        worker, generationId, route.durable.flatMap(Generation::activationId), offeredDataToken);
                tables.workers.put(recovered.id, route);
                lifecycle.become(route, new State.Recovering(Optional.of(recovered), recovering.deadline()), out);
                yield stageRecovered(route, recovered, offeredDataToken, now, out);
            }
            case State.Empty _, State.Activating _, State.PassThrough _ ->
                new Outcome.Refused<>(Refusal.WRONG_STATE, out);
        };
    }

    Outcome<Optional<Generation>> publishable(Permit permit) {
        Optional<Refusal> refusal = refusal(permit);
        if (refusal.isPresent()) {
            return new Outcome.Refused<>(refusal.get(), List.of());
        }
        Route route = tables.workers.get(permit.workerId());
        Worker worker = route.pendingWorker().orElseThrow();
        Generation generation = new Generation(worker.generationId, worker.activationId);
        boolean onDisk = route.durable.filter(generation::equals).isPresent();
        return new Outcome.Accepted<>(onDisk ? Optional.empty() : Optional.of(generation), List.of());
    }

    Outcome<Void> publish(Permit permit, long now) {
        List<Transition> out = new ArrayList<>();
        Optional<Refusal> refusal = refusal(permit);
        if (refusal.isPresent()) {
            return new Outcome.Refused<>(refusal.get(), out);
        }
        Route route = tables.workers.get(permit.workerId());
        Worker worker = route.pendingWorker().orElseThrow();
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
        lifecycle.become(route, new State.Ready(worker), out);
        out.add(new Transition.WorkerPublished(
                route.fingerprint,
                worker.id,
                worker.endpoint,
                generation,
                elapsed.isPresent() ? Publication.ACTIVATION : Publication.RECOVERY,
                elapsed));
        lifecycle.settle(route, now, out);
        return new Outcome.Accepted<>(null, out);
    }

    Outcome<Void> notPublished(Permit permit, String reason, long now) {
        List<Transition> out = new ArrayList<>();
        Optional<Refusal> refusal = refusal(permit);
        if (refusal.isPresent()) {
            return new Outcome.Refused<>(refusal.get(), out);
        }
        Route route = tables.workers.get(permit.workerId());
        if (route.state instanceof State.Activating activating) {
            lifecycle.fail(route, activating, reason, now, out);
            lifecycle.settle(route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    Outcome<Void> disconnected(Permit permit, boolean cut, long now) {
        List<Transition> out = new ArrayList<>();
        Route route = tables.workers.get(permit.workerId());
        if (route == null) {
            return new Outcome.Refused<>(Refusal.UNKNOWN_WORKER, out);
        }
        Worker worker = route.worker().orElseThrow();
        if (worker.serial == permit.serial()) {
            worker.connected = false;
            if (cut) {
                worker.drainKnown = false;
            }
            if (route.state instanceof State.Ready && worker.published) {
                lifecycle.unpublish(worker, now);
            }
            lifecycle.finishDrainIfDue(route, now, out);
            lifecycle.settle(route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    Outcome<Void> failed(WorkerLease lease, long now) {
        List<Transition> out = new ArrayList<>();
        Worker worker = lease.target().worker;
        Route route = tables.routes.get(worker.fingerprint);
        if (route == null || route.worker().filter(known -> known == worker).isEmpty()) {
            return new Outcome.Refused<>(Refusal.SUPERSEDED, out);
        }
        if (worker.draining) {
            return new Outcome.Refused<>(Refusal.DRAINING, out);
        }
        if (route.gate == lease.target()) {
            lifecycle.unpublish(worker, now);
            worker.connected = false;
            out.add(new Transition.CommunicationFailed(route.fingerprint, worker.id));
            lifecycle.settle(route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    /** Told again, or when its drain is under way already, it changes nothing: the drain that it is told of lets it go. */
    Outcome<Void> leaves(Permit permit, long now) {
        List<Transition> out = new ArrayList<>();
        Optional<Refusal> refusal = refusal(permit);
        if (refusal.isPresent()) {
            return refusal.get() == Refusal.DRAINING
                    ? new Outcome.Accepted<>(null, out)
                    : new Outcome.Refused<>(refusal.get(), out);
        }
        Route route = tables.workers.get(permit.workerId());
        if (route.state instanceof State.Activating) {
            return new Outcome.Refused<>(Refusal.WRONG_STATE, out);
        }
        lifecycle.drain(route, route.pendingWorker().orElseThrow(), Cause.WORKER_LEAVES, now, out);
        return drainMoved(route, now, out);
    }

    Outcome<Void> drainAcknowledged(String workerId, long now) {
        List<Transition> out = new ArrayList<>();
        Route route = tables.workers.get(workerId);
        if (route == null || !(route.state instanceof State.Draining draining)) {
            return new Outcome.Refused<>(Refusal.WRONG_STATE, out);
        }
        draining.worker().drainKnown = true;
        return drainMoved(route, now, out);
    }

    Outcome<Void> ended(String workerId, long now) {
        List<Transition> out = new ArrayList<>();
        Route route = tables.workers.get(workerId);
        if (route == null || !(route.state instanceof State.Draining draining) || draining.worker().connected) {
            return new Outcome.Refused<>(Refusal.WRONG_STATE, out);
        }
        draining.worker().ended = true;
        return drainMoved(route, now, out);
    }

    Outcome<Void> drainProgress(String workerId, long now) {
        List<Transition> out = new ArrayList<>();
        Route route = tables.workers.get(workerId);
        return route == null ? new Outcome.Accepted<>(null, out) : drainMoved(route, now, out);
    }

    private Outcome<Void> drainMoved(Route route, long now, List<Transition> out) {
        lifecycle.finishDrainIfDue(route, now, out);
        lifecycle.settle(route, now, out);
        return new Outcome.Accepted<>(null, out);
    }

    private Outcome<StagedWorker> stageRecovered(
            Route route, Worker worker, String offeredDataToken, long now, List<Transition> out) {
        worker.dataToken = offeredDataToken;
        worker.serial = ++lastSerial;
        out.add(new Transition.WorkerStaged(route.fingerprint, worker.id, worker.endpoint, Publication.RECOVERY));
        lifecycle.settle(route, now, out);
        return new Outcome.Accepted<>(staged(worker, Optional.empty()), out);
    }

    private static StagedWorker staged(Worker worker, Optional<Long> drainDeadline) {
        return new StagedWorker(
                worker.generationId, worker.dataToken, new Permit(worker.id, worker.serial), drainDeadline);
    }

    private Optional<Refusal> refusal(Permit permit) {
        Route route = tables.workers.get(permit.workerId());
        if (route == null) {
            return Optional.of(Refusal.SUPERSEDED);
        }
        if (route.state instanceof State.Draining) {
            return Optional.of(Refusal.DRAINING);
        }
        boolean current = route.pendingWorker()
                .filter(worker -> worker.serial == permit.serial() && worker.connected)
                .isPresent();
        return current ? Optional.empty() : Optional.of(Refusal.SUPERSEDED);
    }
}
