package org.nemorelay.broker;

import static org.nemorelay.broker.WorldRules.holds;
import static org.nemorelay.broker.WorldUser.remember;

import java.util.List;
import java.util.Optional;
import org.nemorelay.broker.WorldUser.Drain;
import org.nemorelay.broker.WorldUser.Mcp;
import org.nemorelay.broker.WorldUser.Process;
import org.nemorelay.broker.WorldUser.Request;
import org.nemorelay.broker.WorldUser.Write;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.TokenDigest;

/**
 * A broker with everybody around it: two identities, some MCP sessions, two worker processes per identity, the
 * generation file, requests, time. An event is a number; {@link #enabled} lists those that can happen now, {@link #apply}
 * lets one happen, {@link WorldRules} says what must hold.
 */
final class World {
    private static final int MAX_PROCESSES = 2;
    static final List<Fingerprint> USERS = List.of(Scene.user("ann"), Scene.user("bob"));
    static final List<TokenDigest> TOKENS = List.of(Scene.token("ann"), Scene.token("bob"));
    static final String ENDPOINT = "http://127.0.0.1:4000";

    /** What can happen; an event is its ordinal, the identity and an index, see {@link #event}. */
    enum Kind {
        REGISTER_FIRST,
        REGISTER_LAST,
        DISCONNECT,
        RECONNECT,
        RELEASE,
        LAUNCH_FAILURE,
        CANCEL,
        WORKER_REGISTER,
        READY,
        WRITTEN,
        NOT_WRITTEN,
        PROBE_FAILURE,
        CONTROL_LOSS,
        CONTROL_CUT,
        RECOVER,
        LEAVE,
        DRAIN_ACKNOWLEDGED,
        WORKER_EXIT,
        EXIT_SEEN,
        REQUEST_START,
        REQUEST_END,
        DATA_PLANE_FAILURE,
        TIME,
        /** Index 1: what is being written comes to the disk though nobody hears of it any more. */
        DAEMON_RESTART
    }

    private static final Kind[] KINDS = Kind.values();

    final BrokerSettings settings;

    private final int maxSessions;

    Broker broker;

    final WorldUser[] users = {new WorldUser(0), new WorldUser(1)};

    long now = 1_000;

    private int names;

    World(BrokerSettings settings, int maxSessions) {
        this.settings = settings;
        this.maxSessions = maxSessions;
        this.broker = new Broker(settings);
    }

    static int event(Kind kind, int user, int index) {
        return kind.ordinal() << 4 | user << 3 | index;
    }

    static String describe(int event) {
        return KINDS[event >> 4] + " " + (event >> 3 & 1) + "." + (event & 7);
    }

    /** The events that can happen now. */
    int[] enabled() {
        int[] events = new int[128];
        int n = 0;
        int sessions = users[0].sessions.size() + users[1].sessions.size();
        for (WorldUser user : users) {
            int u = user.index;
            if (sessions < maxSessions) {
                events[n++] = event(Kind.REGISTER_LAST, u, 0);
                if (!user.sessions.isEmpty()) {
                    events[n++] = event(Kind.REGISTER_FIRST, u, 0);
                }
            }
            for (int i = 0; i < user.sessions.size(); i++) {
                Mcp session = user.sessions.get(i);
                events[n++] = event(session.connected ? Kind.DISCONNECT : Kind.RECONNECT, u, i);
                if (session.connected) {
                    events[n++] = event(Kind.RELEASE, u, i);
                    if (session.told instanceof Directive.LaunchWorker) {
                        events[n++] = event(Kind.LAUNCH_FAILURE, u, i);
                        events[n++] = event(Kind.CANCEL, u, i);
                    }
                }
            }
            if (user.grant.isPresent() && user.processes.size() < MAX_PROCESSES && !user.staged()) {
                events[n++] = event(Kind.WORKER_REGISTER, u, 0);
            }
            for (int i = 0; i < user.processes.size(); i++) {
                Process process = user.processes.get(i);
                if (process.connected) {
                    events[n++] = event(Kind.CONTROL_LOSS, u, i);
                    if (process.heard) {
                        events[n++] = event(Kind.CONTROL_CUT, u, i);
                    }
                    if (!process.published && !user.beingWritten(process)) {
                        events[n++] = event(Kind.READY, u, i);
                        events[n++] = event(Kind.PROBE_FAILURE, u, i);
                    }
                    if (!process.toldToDrain && user.recorded(process)) {
                        events[n++] = event(Kind.LEAVE, u, i);
                    }
                    if (process.toldToDrain && !process.acknowledged) {
                        events[n++] = event(Kind.DRAIN_ACKNOWLEDGED, u, i);
                    }
                } else if (!process.acknowledged) {
                    events[n++] = event(Kind.RECOVER, u, i);
                }
                events[n++] = event(Kind.WORKER_EXIT, u, i);
            }
            if (!user.writes.isEmpty()) {
                events[n++] = event(Kind.WRITTEN, u, 0);
                events[n++] = event(Kind.NOT_WRITTEN, u, 0);
            }
            if (user.deadWhileDraining().isPresent()) {
                events[n++] = event(Kind.EXIT_SEEN, u, 0);
            }
            if (user.requests.isEmpty() && user.routable.isPresent()) {
                events[n++] = event(Kind.REQUEST_START, u, 0);
            }
            for (int i = 0; i < user.requests.size(); i++) {
                events[n++] = event(Kind.REQUEST_END, u, i);
                events[n++] = event(Kind.DATA_PLANE_FAILURE, u, i);
            }
        }
        if (broker.nextWakeAt() != Long.MAX_VALUE) {
            events[n++] = event(Kind.TIME, 0, 0);
        }
        if (n > 2) {
            events[n++] = event(Kind.DAEMON_RESTART, 0, 0);
            if (!users[0].writes.isEmpty() || !users[1].writes.isEmpty()) {
                events[n++] = event(Kind.DAEMON_RESTART, 0, 1);
            }
        }
        return java.util.Arrays.copyOf(events, n);
    }

    void apply(int event) {
        WorldUser user = users[event >> 3 & 1];
        int index = event & 7;
        switch (KINDS[event >> 4]) {
            case REGISTER_FIRST -> user.sessions.addFirst(register(user, new Mcp("s" + (5_000 - ++names))));
            case REGISTER_LAST -> user.sessions.addLast(register(user, new Mcp("s" + (5_000 + ++names))));
            case DISCONNECT -> {
                Mcp session = user.sessions.get(index);
                session.connected = false;
                follow(broker.mcpDisconnected(session.id, now));
            }
            case RECONNECT -> register(user, user.sessions.get(index));
            case RELEASE -> {
                Mcp session = user.sessions.remove(index);
                follow(broker.releaseMcp(session.id, now));
            }
            case LAUNCH_FAILURE -> {
                Mcp session = user.sessions.get(index);
                follow(broker.activationFailed(session.id, grantOf(session).activationId(), "failed", now));
            }
            case CANCEL -> {
                Mcp session = user.sessions.get(index);
                follow(broker.cancelActivation(session.id, grantOf(session).activationId(), now));
            }
            case WORKER_REGISTER -> registerWorker(user);
            case READY -> ready(user, user.processes.get(index));
            case WRITTEN -> written(user, user.writes.removeFirst());
            case NOT_WRITTEN ->
                follow(broker.probeFailed(user.writes.removeFirst().process().permit, now));
            case PROBE_FAILURE -> follow(broker.probeFailed(user.processes.get(index).permit, now));
            case CONTROL_LOSS -> {
                Process process = user.processes.get(index);
                process.connected = false;
                user.unroutable(process.id);
                follow(broker.workerDisconnected(process.permit, now));
            }
            case CONTROL_CUT -> {
                Process process = user.processes.get(index);
                process.connected = false;
                process.heard = false;
                follow(broker.workerCut(process.permit, now));
            }
            case RECOVER -> recover(user, user.processes.get(index));
            case LEAVE -> {
                Process process = user.processes.get(index);
                process.acknowledged = true;
                process.heard = true;
                process.leaving = true;
                Outcome<Void> outcome = broker.workerLeaves(process.permit, now);
                holds(outcome instanceof Outcome.Accepted<Void>, "a worker that was published may leave");
                follow(outcome);
                holds(user.routable.filter(process.id::equals).isEmpty(), "a worker that leaves is sent nothing new");
            }
            case DRAIN_ACKNOWLEDGED -> {
                Process process = user.processes.get(index);
                process.acknowledged = true;
                process.heard = true;
                follow(broker.drainAcknowledged(process.id, now));
            }
            case WORKER_EXIT -> {
                Process process = user.processes.remove(index);
                user.unroutable(process.id);
                remember(user.gone, process);
                if (process.connected) {
                    process.connected = false;
                    follow(broker.workerDisconnected(process.permit, now));
                }
                for (Request request : List.copyOf(user.requests)) {
                    if (request.workerId().equals(process.id)) {
                        end(user, request, false);
                    }
                }
            }
            case EXIT_SEEN -> follow(broker.workerEnded(user.deadWhileDraining().orElseThrow(), now));
            case REQUEST_START -> start(user);
            case REQUEST_END -> end(user, user.requests.get(index), false);
            case DATA_PLANE_FAILURE -> end(user, user.requests.get(index), true);
            case TIME -> now = Math.max(now, broker.nextWakeAt());
            case DAEMON_RESTART -> restart(index == 1);
        }
        follow(broker.advance(this::nextGrant, now));
    }

    GrantSecrets nextGrant() {
        int n = ++names;
        return new GrantSecrets("activation-" + n, "secret-" + n);
    }

    static LaunchGrant grantOf(Mcp session) {
        return ((Directive.LaunchWorker) session.told).grant();
    }

    private Mcp register(WorldUser user, Mcp session) {
        session.connected = true;
        session.known = true;
        Outcome<Registration> outcome = broker.registerMcp(
                new McpRegistration(session.id, USERS.get(user.index), TOKENS.get(user.index), Scene.LOOPBACK),
                this::nextGrant,
                now);
        if (!(outcome instanceof Outcome.Accepted<Registration> accepted)) {
            throw new AssertionError("a session was refused: " + outcome);
        }
        told(user, session, accepted.value().directive());
        follow(outcome);
        return session;
    }

    private void told(WorldUser user, Mcp session, Directive directive) {
        session.told = directive;
        if (directive instanceof Directive.LaunchWorker launch
                && user.grant.filter(launch.grant()::equals).isEmpty()) {
            holds(user.grant.isEmpty(), "one live grant per route");
            user.grant = Optional.of(launch.grant());
        }
    }

    WorkerRegistration worker(WorldUser user, String id) {
        return new WorkerRegistration(USERS.get(user.index), id, ENDPOINT, Optional.empty(), true);
    }

    Outcome<StagedWorker> stage(WorldUser user, String id, LaunchGrant grant) {
        return broker.stageWorker(
                worker(user, id),
                grant.activationId(),
                TokenDigest.ofSecret(grant.activationToken()),
                new WorkerSecrets(generationOf(id), "data-of-" + id),
                now);
    }

    static String generationOf(String workerId) {
        return "generation-of-" + workerId;
    }

    private void registerWorker(WorldUser user) {
        String id = "w" + ++names;
        Outcome<StagedWorker> outcome = stage(user, id, user.grant.orElseThrow());
        if (outcome instanceof Outcome.Accepted<StagedWorker> accepted) {
            user.processes.add(new Process(
                    id, accepted.value().generationId(), accepted.value().permit()));
        }
        follow(outcome);
    }

    private void ready(WorldUser user, Process process) {
        switch (broker.publishable(process.permit)) {
            case Outcome.Refused<Optional<Generation>> _ -> {}
            case Outcome.Accepted<Optional<Generation>> accepted -> {
                if (accepted.value().isPresent()) {
                    user.writes.add(new Write(process, accepted.value().get()));
                } else {
                    follow(broker.publish(process.permit, now));
                }
            }
        }
    }

    /** What is recorded of a worker that the daemon has given up meanwhile is taken back at once. */
    private void written(WorldUser user, Write write) {
        boolean known = broker.tables.routes.get(USERS.get(user.index)).state instanceof State.Activating activating
                && activating
                        .staged
                        .filter(worker -> worker.id.equals(write.process().id))
                        .isPresent();
        if (known) {
            user.disk = Optional.of(write.generation());
        }
        Outcome<Void> outcome = broker.publish(write.process().permit, now);
        holds(
                outcome instanceof Outcome.Refused<Void> || known && write.process().connected,
                "who went while it was recorded is not published");
        follow(outcome);
    }

    private void recover(WorldUser user, Process process) {
        Outcome<StagedWorker> outcome =
                broker.recoverWorker(worker(user, process.id), process.generation, "data-" + ++names, now);
        if (outcome instanceof Outcome.Accepted<StagedWorker> accepted) {
            process.permit = accepted.value().permit();
            process.connected = true;
            process.published = false;
            user.unroutable(process.id);
            process.toldToDrain = accepted.value().drainDeadlineMs().isPresent();
        }
        follow(outcome);
    }

    private void start(WorldUser user) {
        switch (broker.resolve(TOKENS.get(user.index))) {
            case WorkerLease lease -> {
                holds(
                        user.routable.filter(lease.workerId()::equals).isPresent(),
                        "only the ready worker gets requests");
                user.requests.add(new Request(lease, lease.workerId(), lease.dataToken(), lease.generationId()));
            }
            case Resolution.PassThrough _, Resolution.Unavailable _ -> {}
        }
    }

    void end(WorldUser user, Request request, boolean failed) {
        user.requests.remove(request);
        if (failed) {
            follow(broker.workerFailed(request.lease(), now));
        }
        if (request.lease().release()) {
            follow(broker.drainProgress(request.workerId(), now));
        }
        holds(!request.lease().release(), "a request ends once");
    }

    private void restart(boolean written) {
        broker = new Broker(settings);
        for (WorldUser user : users) {
            if (written) {
                user.writes.forEach(write -> user.disk = Optional.of(write.generation()));
            }
            user.writes.clear();
            user.sessions.forEach(session -> {
                session.connected = false;
                session.known = false;
                session.told = Lifecycle.WAIT;
            });
            user.grant.ifPresent(grant -> remember(user.revoked, grant));
            user.grant = Optional.empty();
            user.routable = Optional.empty();
            user.requests.clear();
            user.processes.removeIf(process -> {
                process.connected = false;
                process.published = false;
                process.heard = false;
                process.leaving = false;
                boolean lost = process.drainDeadline == Long.MAX_VALUE
                        && user.disk
                                .filter(generation -> generation.generationId().equals(process.generation))
                                .isEmpty();
                if (lost) {
                    remember(user.gone, process);
                }
                return lost;
            });
            user.disk.ifPresent(generation ->
                    follow(broker.restore(USERS.get(user.index), generation, now + settings.disconnectGraceMs())));
            user.draining.ifPresent(drain -> follow(broker.restoreDraining(
                    USERS.get(user.index), drain.generation(), drain.workerId(), ENDPOINT, drain.deadline())));
        }
    }

    <T> void follow(Outcome<T> outcome) {
        follow(outcome.transitions());
    }

    /** What the daemon does with transitions, as far as it matters to those around it. */
    void follow(List<Transition> transitions) {
        for (Transition transition : transitions) {
            switch (transition) {
                case Transition.DirectiveChanged changed -> {
                    for (WorldUser user : users) {
                        for (Mcp session : user.sessions) {
                            if (session.id.equals(changed.sessionId())) {
                                holds(session.connected, "a directive goes to a live socket");
                                told(user, session, changed.directive());
                            }
                        }
                    }
                }
                case Transition.McpRemoved removed ->
                    user(removed.fingerprint()).sessions.removeIf(session -> session.id.equals(removed.sessionId()));
                case Transition.ActivationCancelled cancelled ->
                    user(cancelled.fingerprint()).withdrawn(cancelled.activationId(), cancelled.stagedWorkerId());
                case Transition.ActivationFailed failed ->
                    user(failed.fingerprint()).withdrawn(failed.activationId(), failed.stagedWorkerId());
                case Transition.WorkerPublished published ->
                    user(published.fingerprint()).published(published);
                case Transition.CommunicationFailed failed -> {
                    WorldUser user = user(failed.fingerprint());
                    user.unroutable(failed.workerId());
                    user.process(failed.workerId()).ifPresent(process -> {
                        process.connected = false;
                        follow(broker.workerDisconnected(process.permit, now));
                    });
                }
                case Transition.WorkerLost lost -> user(lost.fingerprint()).lost(lost.workerId(), lost.generationId());
                case Transition.DrainBegan began -> {
                    WorldUser user = user(began.fingerprint());
                    user.unroutable(began.workerId());
                    user.disk = user.disk.filter(
                            generation -> !generation.generationId().equals(began.generationId()));
                    user.draining = Optional.of(new Drain(began.generationId(), began.workerId(), began.deadlineMs()));
                    user.process(began.workerId()).ifPresent(process -> {
                        process.drainDeadline = began.deadlineMs();
                        process.toldToDrain = process.connected;
                    });
                }
                case Transition.LeaveGranted granted -> {
                    WorldUser user = user(granted.fingerprint());
                    holds(
                            user.requests(granted.workerId()) == 0,
                            "a worker that leaves is let go when nothing is under way to it");
                    user.process(granted.workerId()).ifPresent(process -> {
                        holds(process.leaving, "who leaves is let go");
                        process.leaving = false;
                    });
                }
                case Transition.WorkerRemoved removed -> {
                    WorldUser user = user(removed.fingerprint());
                    user.process(removed.workerId())
                            .ifPresent(process -> holds(
                                    user.exited(process) || now >= process.drainDeadline,
                                    "a worker is removed when it has exited"));
                    user.draining = Optional.empty();
                    user.lost(removed.workerId(), removed.generationId());
                }
                case Transition.RecoveryExpired expired -> {
                    WorldUser user = user(expired.fingerprint());
                    user.disk = user.disk.filter(
                            generation -> !generation.generationId().equals(expired.generationId()));
                    List.copyOf(user.processes).stream()
                            .filter(process -> process.generation.equals(expired.generationId()))
                            .forEach(process -> user.dropped(process));
                }
                case Transition.RouteChanged _,
                        Transition.McpAdded _,
                        Transition.LaunchNominated _,
                        Transition.StartupPending _,
                        Transition.WorkerStaged _,
                        Transition.TokenReleased _,
                        Transition.RouteEvicted _ -> {}
            }
        }
    }

    private WorldUser user(Fingerprint fingerprint) {
        return users[USERS.indexOf(fingerprint)];
    }
}
