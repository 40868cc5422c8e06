package org.nemorelay.daemon.internal;

import java.util.List;
import java.util.Optional;
import org.nemorelay.broker.Outcome;
import org.nemorelay.broker.Transition;
import org.nemorelay.identity.DrainingWorker;
import org.nemorelay.protocol.control.Ids;
import org.nemorelay.protocol.control.ServerEvent;

/** What the broker's transitions do to sessions, sockets and the record on disk. Control thread. */
final class Effects {
    private final Sessions sessions;
    private final Generations generations;
    private final Ids ids;
    private final TransitionLog transitionLog;
    private final ExitWatch exits;
    private final Forwarding forwarding;
    private final Clock clock;

    Effects(
            Sessions sessions,
            Generations generations,
            Ids ids,
            TransitionLog transitionLog,
            ExitWatch exits,
            Forwarding forwarding,
            Clock clock) {
        this.sessions = sessions;
        this.generations = generations;
        this.ids = ids;
        this.transitionLog = transitionLog;
        this.exits = exits;
        this.forwarding = forwarding;
        this.clock = clock;
    }

    <T> void accepted(Outcome<T> outcome) {
        apply(outcome.transitions());
    }

    void apply(List<Transition> transitions) {
        for (Transition transition : transitions) {
            transitionLog.write(transition);
            switch (transition) {
                case Transition.DirectiveChanged changed -> {
                    ControlSession.Mcp session = sessions.mcps.get(changed.sessionId());
                    if (session != null) {
                        sessions.push(
                                session, new ServerEvent.DirectiveIssued(ids.uuid7(), changed.directive()), () -> {});
                    }
                }
                case Transition.McpRemoved removed -> sessions.mcps.remove(removed.sessionId());
                case Transition.ActivationCancelled cancelled ->
                    cancelled.stagedWorkerId().ifPresent(id -> unstage(id, "activation_cancelled"));
                case Transition.ActivationFailed failed ->
                    failed.stagedWorkerId().ifPresent(id -> unstage(id, "activation_failed"));
                case Transition.CommunicationFailed failed ->
                    Optional.ofNullable(sessions.workers.get(failed.workerId()))
                            .flatMap(worker -> worker.socket)
                            .ifPresent(socket -> socket.drop("worker_communication_failed"));
                case Transition.WorkerLost lost -> {
                    sessions.removeWorker(lost.workerId(), "worker_communication_failed");
                    generations.revoke(lost.fingerprint(), lost.generationId());
                }
                case Transition.WorkerRemoved removed -> {
                    exits.over(removed.workerId());
                    if (removed.reason() == Transition.WorkerRemoved.Reason.DRAIN_DEADLINE_REACHED) {
                        forwarding.cut(removed.workerId());
                    }
                    sessions.removeWorker(removed.workerId(), "peer_closed");
                    generations.revoke(removed.fingerprint(), removed.generationId());
                }
                case Transition.RecoveryExpired expired -> {
                    expired.stagedWorkerId().ifPresent(id -> sessions.removeWorker(id, "activation_expired"));
                    generations.revoke(expired.fingerprint(), expired.generationId());
                }
                case Transition.DrainBegan began -> {
                    drain(began);
                    exits.begin(began.workerId(), began.endpoint());
                }
                case Transition.LeaveGranted granted ->
                    Optional.ofNullable(sessions.workers.get(granted.workerId()))
                            .ifPresent(sessions::drain);
                case Transition.RouteChanged _,
                        Transition.McpAdded _,
                        Transition.LaunchNominated _,
                        Transition.StartupPending _,
                        Transition.WorkerStaged _,
                        Transition.WorkerPublished _,
                        Transition.TokenReleased _,
                        Transition.RouteEvicted _ -> {}
            }
        }
    }

    /**
     * Told when it is on record: a daemon that is killed in between would wait for a worker that does not come back. One that
     * leaves goes whether or not, and is told when it is let go.
     */
    private void drain(Transition.DrainBegan began) {
        Optional<ControlSession.Worker> worker = Optional.ofNullable(sessions.workers.get(began.workerId()));
        worker.ifPresent(session -> session.drainDeadline = Optional.of(began.deadlineMs()));
        generations.drain(
                new DrainingWorker(
                        began.fingerprint(),
                        began.generationId(),
                        began.workerId(),
                        began.endpoint(),
                        clock.unixMs() + began.deadlineMs() - clock.monotonicMs()),
                () -> worker.filter(session -> began.cause() == Transition.DrainBegan.Cause.LAST_SESSION_LEFT)
                        .flatMap(sessions::current)
                        .ifPresent(sessions::drain));
    }

    private void unstage(String workerId, String reason) {
        ControlSession.Worker worker = sessions.workers.get(workerId);
        sessions.removeWorker(workerId, reason);
        if (worker != null) {
            worker.recorded.ifPresent(record -> generations.restore(record.generation(), record.previous()));
        }
    }
}
