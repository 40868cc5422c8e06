package org.nemorelay.daemon.internal;

import java.util.Optional;
import org.nemorelay.broker.Broker;
import org.nemorelay.broker.Generation;
import org.nemorelay.broker.Outcome;
import org.nemorelay.broker.Refusal;
import org.nemorelay.broker.StagedWorker.Permit;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.control.ReplyBody;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.EventLog.Level;

/** From a worker's readiness to its publication: probe, state, broker (relay-daemon 5.7). Control thread; it waits for nothing. */
final class Publications {
    private final Broker broker;
    private final ControlThread thread;
    private final Sessions sessions;
    private final Generations generations;
    private final Effects effects;
    private final WorkerProbe probe;
    private final EventLog log;

    Publications(
            Broker broker,
            ControlThread thread,
            Sessions sessions,
            Generations generations,
            Effects effects,
            WorkerProbe probe,
            EventLog log) {
        this.broker = broker;
        this.thread = thread;
        this.sessions = sessions;
        this.generations = generations;
        this.effects = effects;
        this.probe = probe;
        this.log = log;
    }

    /** The worker says that it serves. */
    void ready(ControlSocket socket, ControlSession.Worker worker, String requestId) {
        Permit permit = worker.permit;
        if (broker.publishable(permit) instanceof Outcome.Refused<Optional<Generation>> refused) {
            Replies.fail(socket, worker, requestId, ControlFailure.of(refused.refusal()));
            return;
        }
        probe.problem(worker.route, worker.dataToken)
                .thenAccept(problem -> thread.post(() -> probed(socket, worker, requestId, permit, problem)));
    }

    private void probed(
            ControlSocket socket,
            ControlSession.Worker worker,
            String requestId,
            Permit permit,
            Optional<String> problem) {
        if (problem.isPresent()) {
            String endpoint = worker.route.origin().toString();
            boolean published = broker.workers().stream()
                    .anyMatch(status -> status.workerId().equals(worker.id));
            log.log(
                    Level.WARN,
                    TransitionLog.TARGET,
                    "worker_readiness_failed",
                    "Worker did not answer its readiness probe",
                    "fingerprint",
                    worker.fingerprint,
                    "worker_id",
                    worker.id,
                    "endpoint",
                    endpoint,
                    "reason",
                    problem.get(),
                    "error_kind",
                    FailureKind.UPSTREAM.word(),
                    "route_mode",
                    published ? "recovering" : "pass_through");
            Replies.fail(
                    socket,
                    worker,
                    requestId,
                    ControlFailure.of(FailureKind.UPSTREAM, "the worker did not answer its probe with 204"));
            sessions.tellUnreachable(worker.fingerprint, endpoint, problem.get());
            effects.accepted(broker.probeFailed(permit, thread.now()));
            return;
        }
        switch (broker.publishable(permit)) {
            case Outcome.Refused<Optional<Generation>> refused ->
                superseded(socket, worker, requestId, refused.refusal());
            case Outcome.Accepted<Optional<Generation>> accepted ->
                accepted.value()
                        .ifPresentOrElse(
                                generation -> write(socket, worker, requestId, permit, generation),
                                () -> publish(socket, worker, requestId, permit));
        }
    }

    private void write(
            ControlSocket socket,
            ControlSession.Worker worker,
            String requestId,
            Permit permit,
            Generation generation) {
        var record = new org.nemorelay.identity.Generation(
                worker.fingerprint, generation.generationId(), generation.activationId());
        generations
                .publish(record)
                .whenComplete((previous, failure) -> thread.post(() -> {
                    if (failure != null) {
                        Replies.fail(
                                socket,
                                worker,
                                requestId,
                                ControlFailure.of(FailureKind.INTERNAL, "the worker's generation could not be saved"));
                        effects.accepted(broker.notSaved(permit, thread.now()));
                        return;
                    }
                    if (sessions.current(worker).isEmpty()) {
                        generations.restore(record, previous);
                    } else if (worker.recorded.isEmpty()) {
                        worker.recorded = Optional.of(new ControlSession.Recorded(record, previous));
                    }
                    publish(socket, worker, requestId, permit);
                }));
    }

    /** A refused worker may still be staged, under a later registration of its own: its record stays for that one. */
    private void publish(ControlSocket socket, ControlSession.Worker worker, String requestId, Permit permit) {
        switch (broker.publish(permit, thread.now())) {
            case Outcome.Refused<Void> refused -> superseded(socket, worker, requestId, refused.refusal());
            case Outcome.Accepted<Void> accepted -> {
                Replies.succeed(socket, worker, requestId, new ReplyBody.Empty());
                effects.apply(accepted.transitions());
            }
        }
    }

    private void superseded(ControlSocket socket, ControlSession.Worker worker, String requestId, Refusal refusal) {
        Replies.fail(
                socket,
                worker,
                requestId,
                refusal == Refusal.DRAINING
                        ? ControlFailure.of(refusal)
                        : ControlFailure.unauthorized(refusal.message()));
    }
}
