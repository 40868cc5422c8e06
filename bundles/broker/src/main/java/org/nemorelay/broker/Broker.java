package org.nemorelay.broker;

import java.util.List;
import java.util.Optional;
import org.nemorelay.broker.StagedWorker.Permit;
import org.nemorelay.protocol.Fingerprint;
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
    private final BrokerSettings settings;
    private final Gates gates;
    final Tables tables;
    private final Lifecycle lifecycle;
    private final SessionEvents sessions;
    private final WorkerEvents workers;

    public Broker(BrokerSettings settings) {
        this.settings = settings;
        this.gates = new Gates(settings);
        this.tables = new Tables(settings);
        this.lifecycle = new Lifecycle(settings, tables, gates);
        this.sessions = new SessionEvents(settings, tables, lifecycle);
        this.workers = new WorkerEvents(tables, lifecycle);
    }

    /** Whether no worker is ever launched. */
    public boolean passThrough() {
        return settings.passThrough();
    }

    /** Where a request with this token goes. A {@link WorkerLease} must be released when its response has ended. */
    public Resolution resolve(TokenDigest token) {
        Binding binding = tables.tokens.get(token);
        if (settings.passThrough()) {
            return binding == null || binding.sessions == 0 ? gates.globalUnbound : gates.globalBound;
        }
        if (binding == null) {
            return gates.unbound;
        }
        if (binding.sessions == 0) {
            return gates.noSession;
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
        return sessions.register(request, grants, now);
    }

    /** The session's control socket is gone; its reference stays for the grace. */
    public synchronized Outcome<Void> mcpDisconnected(String sessionId, long now) {
        return sessions.disconnected(sessionId, now);
    }

    /** The session ends. Unknown sessions are a no-op. */
    public synchronized Outcome<Void> releaseMcp(String sessionId, long now) {
        return sessions.release(sessionId, now);
    }

    /** The owner's launch failed. A launch that is no longer current is a no-op. */
    public synchronized Outcome<Void> activationFailed(String sessionId, String activationId, String reason, long now) {
        return sessions.activationFailed(sessionId, activationId, reason, now);
    }

    /** The owner gives its launch up, or asks what became of it. */
    public synchronized Outcome<CancelOutcome> cancelActivation(String sessionId, String activationId, long now) {
        return sessions.cancelActivation(sessionId, activationId, now);
    }

    /** A worker registers with its launch grant: staged, not routable. */
    public synchronized Outcome<StagedWorker> stageWorker(
            WorkerRegistration worker,
            String activationId,
            TokenDigest activationToken,
            WorkerSecrets offered,
            long now) {
        return workers.stage(worker, activationId, activationToken, offered, now);
    }

    /**
     * A worker returns with the signed grant of its generation: within its grace, after a restart of the daemon, or while
     * draining. Not routable until {@link #publish}.
     */
    public synchronized Outcome<StagedWorker> recoverWorker(
            WorkerRegistration worker, String generationId, String offeredDataToken, long now) {
        return workers.recover(worker, generationId, offeredDataToken, now);
    }

    /** Whether {@link #publish} would accept now; the value is the generation that must be on disk first, if it is not. */
    public synchronized Outcome<Optional<Generation>> publishable(Permit permit) {
        return workers.publishable(permit);
    }

    /** The worker is ready, its probe was answered and its generation is on disk: requests go to it. Repeating is a no-op. */
    public synchronized Outcome<Void> publish(Permit permit, long now) {
        return workers.publish(permit, now);
    }

    /** The worker's probe failed: a launch has failed with it; a worker that was published before keeps its grace. */
    public synchronized Outcome<Void> probeFailed(Permit permit, long now) {
        return workers.notPublished(permit, "readiness_probe_failed", now);
    }

    /** The same for one whose generation could not be written to the disk. */
    public synchronized Outcome<Void> notSaved(Permit permit, long now) {
        return workers.notPublished(permit, "generation_not_saved", now);
    }

    /** The worker closed the socket of this registration, or ended with it. A registration that was replaced is a no-op. */
    public synchronized Outcome<Void> workerDisconnected(Permit permit, long now) {
        return workers.disconnected(permit, false, now);
    }

    /** The daemon gave the socket of this registration up: that tells nothing of the worker, which may still drain. */
    public synchronized Outcome<Void> workerCut(Permit permit, long now) {
        return workers.disconnected(permit, true, now);
    }

    /** A request to the worker failed in transport. Failures of an earlier worker or publication change nothing. */
    public synchronized Outcome<Void> workerFailed(WorkerLease lease, long now) {
        return workers.failed(lease, now);
    }

    /**
     * The worker leaves in good order: it drains as after the last session, though there are sessions, and is not taken back.
     * What is under way to it is still taken; {@link Transition.LeaveGranted} says when nothing is. Refused for a worker that
     * was not published yet; one that drains already is a no-op.
     */
    public synchronized Outcome<Void> workerLeaves(Permit permit, long now) {
        return workers.leaves(permit, now);
    }

    /** The worker knows that it drains. */
    public synchronized Outcome<Void> drainAcknowledged(String workerId, long now) {
        return workers.drainAcknowledged(workerId, now);
    }

    /** The last request of a draining worker has ended ({@link WorkerLease#release}). */
    public synchronized Outcome<Void> drainProgress(String workerId, long now) {
        return workers.drainProgress(workerId, now);
    }

    /**
     * The process of a draining worker has ended, although its control connection did not tell: nothing listens any more where
     * it did. Refused while it is connected, and for any worker but the draining one.
     */
    public synchronized Outcome<Void> workerEnded(String workerId, long now) {
        return workers.ended(workerId, now);
    }

    /** A generation from before a restart: its launches wait for it until {@code deadline}. */
    public synchronized List<Transition> restore(Fingerprint fingerprint, Generation generation, long deadline) {
        return lifecycle.restore(fingerprint, generation, deadline);
    }

    /** A worker that was draining before a restart: its launches wait for its exit, at the latest until {@code deadline}. */
    public synchronized List<Transition> restoreDraining(
            Fingerprint fingerprint, String generationId, String workerId, String endpoint, long deadline) {
        return lifecycle.restoreDraining(fingerprint, generationId, workerId, endpoint, deadline);
    }

    /** Does everything that is due: graces, drains, retries, nominations, reports. */
    public synchronized List<Transition> advance(GrantSecrets.Source grants, long now) {
        return lifecycle.advance(grants, now);
    }

    /** When {@link #advance} is due next; {@link Long#MAX_VALUE} for never. */
    public synchronized long nextWakeAt() {
        return lifecycle.nextWakeAt();
    }

    /** Every route, by fingerprint. */
    public synchronized List<RouteStatus> routes() {
        return tables.routeStatus();
    }

    /** Every assigned worker, by id (relay-daemon 2). */
    public synchronized List<RouteStatus.WorkerStatus> workers() {
        return tables.workerStatus();
    }

    /** Every session, by id. */
    public synchronized List<SessionStatus> sessions() {
        return tables.sessionStatus();
    }
}
