package org.nemorelay.broker;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.broker.StagedWorker.Permit;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.TokenDigest;

/**
 * A broker with everybody around it: two identities, some MCP sessions, two worker processes per identity, the
 * generation file, requests, time. An event is a number; {@link #enabled} lists those that can happen now, {@link #apply}
 * lets one happen, {@link #check} says what must hold. A violation is an {@link AssertionError}.
 */
final class World {
    private static final int MAX_PROCESSES = 2;
    private static final List<Fingerprint> USERS = List.of(Scene.user("ann"), Scene.user("bob"));
    private static final List<TokenDigest> TOKENS = List.of(Scene.token("ann"), Scene.token("bob"));
    private static final String ENDPOINT = "http://127.0.0.1:4000";
    private static final int REMEMBERED = 2;

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

    /** A harness session's lifecycle client. */
    private static final class Mcp {
        final String id;
        boolean connected = true;
        /** The daemon has it in its tables; not so after a restart, until it returns. */
        boolean known = true;

        Directive told = Lifecycle.WAIT;

        Mcp(String id) {
            this.id = id;
        }
    }

    /** A worker process that has registered. */
    private static final class Process {
        final String id;
        final String generation;
        Permit permit;
        boolean connected = true;
        boolean published;
        boolean toldToDrain;
        /** It knows that it drains, and does not come back. */
        boolean acknowledged;
        /** This daemon knows that it knows. */
        boolean heard;
        /** It leaves, and ends when it is let go. */
        boolean leaving;
        /** When its drain ends at the latest; never for one that does not drain. */
        long drainDeadline = Long.MAX_VALUE;

        Process(String id, String generation, Permit permit) {
            this.id = id;
            this.generation = generation;
            this.permit = permit;
        }
    }

    /** A generation on its way to the disk: its worker is published when it is there. */
    private record Write(Process process, Generation generation) {}

    /** What is on disk of a worker that drains. */
    private record Drain(String generation, String workerId, long deadline) {}

    /** A request under way, with the destination that it was given. */
    private record Request(WorkerLease lease, String workerId, String dataToken, String generation) {}

    private static final class User {
        final int index;
        final List<Mcp> sessions = new ArrayList<>();
        final List<Process> processes = new ArrayList<>();
        final List<Request> requests = new ArrayList<>();
        Optional<Generation> disk = Optional.empty();
        /** In the order in which they come to the disk. */
        final List<Write> writes = new ArrayList<>();

        Optional<Drain> draining = Optional.empty();
        Optional<LaunchGrant> grant = Optional.empty();
        Optional<String> routable = Optional.empty();
        /** Grants that were withdrawn or used, workers that the daemon has given up. */
        final List<LaunchGrant> revoked = new ArrayList<>();

        final List<Process> gone = new ArrayList<>();

        User(int index) {
            this.index = index;
        }
    }

    private final BrokerSettings settings;
    private final int maxSessions;
    private Broker broker;
    private final User[] users = {new User(0), new User(1)};
    private long now = 1_000;
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
        for (User user : users) {
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
            if (user.grant.isPresent() && user.processes.size() < MAX_PROCESSES && !staged(user)) {
                events[n++] = event(Kind.WORKER_REGISTER, u, 0);
            }
            for (int i = 0; i < user.processes.size(); i++) {
                Process process = user.processes.get(i);
                if (process.connected) {
                    events[n++] = event(Kind.CONTROL_LOSS, u, i);
                    if (process.heard) {
                        events[n++] = event(Kind.CONTROL_CUT, u, i);
                    }
                    if (!process.published && !beingWritten(user, process)) {
                        events[n++] = event(Kind.READY, u, i);
                        events[n++] = event(Kind.PROBE_FAILURE, u, i);
                    }
                    if (!process.toldToDrain && recorded(user, process)) {
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
            if (deadWhileDraining(user).isPresent()) {
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
        User user = users[event >> 3 & 1];
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
            case NOT_WRITTEN -> follow(broker.probeFailed(user.writes.removeFirst().process.permit, now));
            case PROBE_FAILURE -> follow(broker.probeFailed(user.processes.get(index).permit, now));
            case CONTROL_LOSS -> {
                Process process = user.processes.get(index);
                process.connected = false;
                unroutable(user, process.id);
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
                unroutable(user, process.id);
                remember(user.gone, process);
                if (process.connected) {
                    process.connected = false;
                    follow(broker.workerDisconnected(process.permit, now));
                }
                for (Request request : List.copyOf(user.requests)) {
                    if (request.workerId.equals(process.id)) {
                        end(user, request, false);
                    }
                }
            }
            case EXIT_SEEN -> follow(broker.workerEnded(deadWhileDraining(user).orElseThrow(), now));
            case REQUEST_START -> start(user);
            case REQUEST_END -> end(user, user.requests.get(index), false);
            case DATA_PLANE_FAILURE -> end(user, user.requests.get(index), true);
            case TIME -> now = Math.max(now, broker.nextWakeAt());
            case DAEMON_RESTART -> restart(index == 1);
        }
        follow(broker.advance(this::nextGrant, now));
    }

    /** Whether its generation is on disk: it has been published and does not drain. */
    private static boolean recorded(User user, Process process) {
        return user.disk
                .filter(generation -> generation.generationId().equals(process.generation))
                .isPresent();
    }

    /** The worker of a drain whose process has ended before the daemon could know. */
    private static Optional<String> deadWhileDraining(User user) {
        return user.draining.map(Drain::workerId).filter(id -> process(user, id).isEmpty());
    }

    private GrantSecrets nextGrant() {
        int n = ++names;
        return new GrantSecrets("activation-" + n, "secret-" + n);
    }

    private static LaunchGrant grantOf(Mcp session) {
        return ((Directive.LaunchWorker) session.told).grant();
    }

    private Mcp register(User user, Mcp session) {
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

    private void told(User user, Mcp session, Directive directive) {
        session.told = directive;
        if (directive instanceof Directive.LaunchWorker launch
                && user.grant.filter(launch.grant()::equals).isEmpty()) {
            holds(user.grant.isEmpty(), "one live grant per route");
            user.grant = Optional.of(launch.grant());
        }
    }

    private static boolean staged(User user) {
        return user.processes.stream()
                .anyMatch(process -> process.connected && !process.published && !process.toldToDrain);
    }

    private WorkerRegistration worker(User user, String id) {
        return new WorkerRegistration(USERS.get(user.index), id, ENDPOINT, Optional.empty(), true);
    }

    private Outcome<StagedWorker> stage(User user, String id, LaunchGrant grant) {
        return broker.stageWorker(
                worker(user, id),
                grant.activationId(),
                TokenDigest.ofSecret(grant.activationToken()),
                new WorkerSecrets(generationOf(id), "data-of-" + id),
                now);
    }

    private static String generationOf(String workerId) {
        return "generation-of-" + workerId;
    }

    private void registerWorker(User user) {
        String id = "w" + ++names;
        Outcome<StagedWorker> outcome = stage(user, id, user.grant.orElseThrow());
        if (outcome instanceof Outcome.Accepted<StagedWorker> accepted) {
            user.processes.add(new Process(
                    id, accepted.value().generationId(), accepted.value().permit()));
        }
        follow(outcome);
    }

    private void ready(User user, Process process) {
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
    private void written(User user, Write write) {
        boolean known = broker.tables.routes.get(USERS.get(user.index)).state instanceof State.Activating activating
                && activating
                        .staged
                        .filter(worker -> worker.id.equals(write.process.id))
                        .isPresent();
        if (known) {
            user.disk = Optional.of(write.generation);
        }
        Outcome<Void> outcome = broker.publish(write.process.permit, now);
        holds(
                outcome instanceof Outcome.Refused<Void> || known && write.process.connected,
                "who went while it was recorded is not published");
        follow(outcome);
    }

    private static boolean beingWritten(User user, Process process) {
        return user.writes.stream().anyMatch(write -> write.process == process);
    }

    /** Recorded and not published: it went, or was cancelled, in between. */
    private static boolean recordedAhead(User user, Route route) {
        return route.state instanceof State.Activating activating
                && activating
                        .staged
                        .filter(worker -> user.disk
                                .filter(generation -> generation.generationId().equals(worker.generationId))
                                .isPresent())
                        .isPresent();
    }

    private void recover(User user, Process process) {
        Outcome<StagedWorker> outcome =
                broker.recoverWorker(worker(user, process.id), process.generation, "data-" + ++names, now);
        if (outcome instanceof Outcome.Accepted<StagedWorker> accepted) {
            process.permit = accepted.value().permit();
            process.connected = true;
            process.published = false;
            unroutable(user, process.id);
            process.toldToDrain = accepted.value().drainDeadlineMs().isPresent();
        }
        follow(outcome);
    }

    private void start(User user) {
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

    private void end(User user, Request request, boolean failed) {
        user.requests.remove(request);
        if (failed) {
            follow(broker.workerFailed(request.lease, now));
        }
        if (request.lease.release()) {
            follow(broker.drainProgress(request.workerId, now));
        }
        holds(!request.lease.release(), "a request ends once");
    }

    private void restart(boolean written) {
        broker = new Broker(settings);
        for (User user : users) {
            if (written) {
                user.writes.forEach(write -> user.disk = Optional.of(write.generation));
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
                    USERS.get(user.index), drain.generation, drain.workerId, ENDPOINT, drain.deadline)));
        }
    }

    private static <T> void remember(List<T> list, T item) {
        list.add(item);
        if (list.size() > REMEMBERED) {
            list.removeFirst();
        }
    }

    private static void unroutable(User user, String workerId) {
        user.routable = user.routable.filter(id -> !id.equals(workerId));
    }

    private <T> void follow(Outcome<T> outcome) {
        follow(outcome.transitions());
    }

    /** What the daemon does with transitions, as far as it matters to those around it. */
    private void follow(List<Transition> transitions) {
        for (Transition transition : transitions) {
            switch (transition) {
                case Transition.DirectiveChanged changed -> {
                    for (User user : users) {
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
                    withdrawn(user(cancelled.fingerprint()), cancelled.activationId(), cancelled.stagedWorkerId());
                case Transition.ActivationFailed failed ->
                    withdrawn(user(failed.fingerprint()), failed.activationId(), failed.stagedWorkerId());
                case Transition.WorkerPublished published -> published(user(published.fingerprint()), published);
                case Transition.CommunicationFailed failed -> {
                    User user = user(failed.fingerprint());
                    unroutable(user, failed.workerId());
                    process(user, failed.workerId()).ifPresent(process -> {
                        process.connected = false;
                        follow(broker.workerDisconnected(process.permit, now));
                    });
                }
                case Transition.WorkerLost lost -> lost(user(lost.fingerprint()), lost.workerId(), lost.generationId());
                case Transition.DrainBegan began -> {
                    User user = user(began.fingerprint());
                    unroutable(user, began.workerId());
                    user.disk = user.disk.filter(
                            generation -> !generation.generationId().equals(began.generationId()));
                    user.draining = Optional.of(new Drain(began.generationId(), began.workerId(), began.deadlineMs()));
                    process(user, began.workerId()).ifPresent(process -> {
                        process.drainDeadline = began.deadlineMs();
                        process.toldToDrain = process.connected;
                    });
                }
                case Transition.LeaveGranted granted -> {
                    User user = user(granted.fingerprint());
                    holds(
                            requests(user, granted.workerId()) == 0,
                            "a worker that leaves is let go when nothing is under way to it");
                    process(user, granted.workerId()).ifPresent(process -> {
                        holds(process.leaving, "who leaves is let go");
                        process.leaving = false;
                    });
                }
                case Transition.WorkerRemoved removed -> {
                    User user = user(removed.fingerprint());
                    process(user, removed.workerId())
                            .ifPresent(process -> holds(
                                    exited(user, process) || now >= process.drainDeadline,
                                    "a worker is removed when it has exited"));
                    user.draining = Optional.empty();
                    lost(user, removed.workerId(), removed.generationId());
                }
                case Transition.RecoveryExpired expired -> {
                    User user = user(expired.fingerprint());
                    user.disk = user.disk.filter(
                            generation -> !generation.generationId().equals(expired.generationId()));
                    List.copyOf(user.processes).stream()
                            .filter(process -> process.generation.equals(expired.generationId()))
                            .forEach(process -> dropped(user, process));
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

    private User user(Fingerprint fingerprint) {
        return users[USERS.indexOf(fingerprint)];
    }

    private static Optional<Process> process(User user, String id) {
        for (Process process : user.processes) {
            if (process.id.equals(id)) {
                return Optional.of(process);
            }
        }
        return Optional.empty();
    }

    private void withdrawn(User user, String activationId, Optional<String> stagedWorkerId) {
        user.grant
                .filter(grant -> grant.activationId().equals(activationId))
                .ifPresent(grant -> remember(user.revoked, grant));
        user.grant = Optional.empty();
        stagedWorkerId.ifPresent(id -> {
            user.disk =
                    user.disk.filter(generation -> !generation.generationId().equals(generationOf(id)));
            process(user, id).ifPresent(process -> dropped(user, process));
        });
    }

    private static void published(User user, Transition.WorkerPublished published) {
        holds(user.routable.isEmpty(), "one routable worker per route");
        user.routable = Optional.of(published.workerId());
        user.grant.ifPresent(grant -> remember(user.revoked, grant));
        user.grant = Optional.empty();
        Process process = process(user, published.workerId())
                .orElseThrow(() -> new AssertionError("a worker was published that the daemon had given up"));
        holds(process.drainDeadline == Long.MAX_VALUE, "a draining worker is never ready");
        process.published = true;
    }

    private static void lost(User user, String workerId, String generationId) {
        unroutable(user, workerId);
        user.disk = user.disk.filter(generation -> !generation.generationId().equals(generationId));
        process(user, workerId).ifPresent(process -> dropped(user, process));
    }

    private static void dropped(User user, Process process) {
        process.connected = false;
        user.processes.remove(process);
        remember(user.gone, process);
    }

    private static boolean exited(User user, Process process) {
        return process.heard && !process.connected && requests(user, process.id) == 0;
    }

    private static long requests(User user, String workerId) {
        long count = 0;
        for (Request request : user.requests) {
            if (request.workerId.equals(workerId)) {
                count++;
            }
        }
        return count;
    }

    // ---- what must hold

    private static void holds(boolean fact, String rule) {
        if (!fact) {
            throw new AssertionError(rule);
        }
    }

    /** Holds in every state; what it tries is refused and changes nothing. */
    void check() {
        for (User user : users) {
            Route route = broker.tables.routes.get(USERS.get(user.index));
            if (route == null) {
                holds(user.sessions.stream().noneMatch(session -> session.known), "a known session has a route");
                continue;
            }
            checkSessions(user, route);
            holds(
                    !route.sessions.isEmpty()
                            || !(route.state instanceof State.Recovering)
                            || route.wakeAt != Route.NEVER,
                    "a route that nobody holds waits for something or is empty");
            checkWorkers(user, route);
            checkRequests(user, route);
            checkRefusals(user, route);
        }
    }

    private void checkSessions(User user, Route route) {
        int owners = 0;
        for (Mcp session : user.sessions) {
            if (!session.connected) {
                continue;
            }
            boolean launches = session.told instanceof Directive.LaunchWorker;
            owners += launches ? 1 : 0;
            boolean fits = switch (route.state) {
                case State.Empty _ -> false;
                case State.Activating activating ->
                    launches
                            ? grantOf(session).equals(activating.grant) && activating.owner.equals(session.id)
                            : session.told.equals(Lifecycle.WAIT);
                case State.Ready ready ->
                    ready.worker().published
                            ? session.told.equals(new Directive.ReuseWorker(ENDPOINT))
                            : session.told.equals(Lifecycle.WAIT);
                case State.Draining _, State.Recovering _ -> session.told.equals(Lifecycle.WAIT);
                case State.PassThrough _ -> session.told instanceof Directive.UsePassThrough;
            };
            holds(fits, "a session knows what its route is: " + route.state.kind() + ", " + session.told);
        }
        holds(owners == (route.state instanceof State.Activating ? 1 : 0), "a launch has one owner with a live socket");
        holds(user.grant.isPresent() == owners > 0, "one live grant per route");
    }

    private void checkWorkers(User user, Route route) {
        holds(
                route.state instanceof State.Draining draining
                        ? user.disk.isEmpty()
                                && user.draining
                                        .filter(drain -> drain.workerId.equals(draining.worker().id))
                                        .isPresent()
                        : (route.durable.equals(user.disk) || recordedAhead(user, route)) && user.draining.isEmpty(),
                "the broker knows what is on disk");
        if (route.state instanceof State.Activating) {
            for (Process process : user.processes) {
                holds(
                        process.drainDeadline == Long.MAX_VALUE
                                || exited(user, process)
                                || now >= process.drainDeadline,
                        "a replacement is nominated when the old worker has exited");
            }
            holds(user.disk.isEmpty() || recordedAhead(user, route), "no launch while a saved generation may return");
        }
        if (route.state instanceof State.Draining draining) {
            holds(draining.deadline() > now, "a drain ends at its deadline");
            process(user, draining.worker().id).ifPresent(process -> {
                holds(!exited(user, process), "a drain ends with its worker");
                holds(
                        !process.leaving || requests(user, process.id) > 0,
                        "a worker that leaves is let go as soon as nothing is under way to it");
            });
        }
        // Draining or not: what the broker would publish now is a live process that does not drain.
        for (Process process : user.processes) {
            if (process.drainDeadline != Long.MAX_VALUE) {
                holds(
                        broker.publish(process.permit, now) instanceof Outcome.Refused<Void>,
                        "a draining worker is never ready");
            }
        }
    }

    private void checkRequests(User user, Route route) {
        switch (broker.resolve(TOKENS.get(user.index))) {
            case WorkerLease lease -> {
                boolean fits = user.routable.filter(lease.workerId()::equals).isPresent();
                lease.release();
                holds(fits && route.state instanceof State.Ready, "only the ready worker gets requests");
            }
            case Resolution.PassThrough _, Resolution.Unavailable _ ->
                holds(
                        user.routable.isEmpty() || user.sessions.stream().noneMatch(session -> session.known),
                        "a ready worker gets the requests");
        }
        route.worker()
                .ifPresent(worker -> holds(
                        worker.inFlight.get() == requests(user, worker.id), "in-flight counts the open requests"));
        for (Request request : user.requests) {
            holds(
                    request.workerId.equals(request.lease.workerId())
                            && request.dataToken.equals(request.lease.dataToken())
                            && request.generation.equals(request.lease.generationId()),
                    "a request's destination never changes");
            holds(
                    request.lease.target().worker.inFlight.get() == requests(user, request.workerId),
                    "in-flight is never negative and counts the open requests");
        }
    }

    private void checkRefusals(User user, Route route) {
        for (LaunchGrant grant : user.revoked) {
            holds(
                    stage(user, "late", grant) instanceof Outcome.Refused<StagedWorker>,
                    "a revoked or superseded grant never registers");
        }
        for (Process process : user.gone) {
            holds(
                    broker.publish(process.permit, now) instanceof Outcome.Refused<Void>,
                    "a worker that was given up is never published");
            holds(
                    user.draining
                                    .map(Drain::workerId)
                                    .filter(process.id::equals)
                                    .isPresent()
                            || broker.workerEnded(process.id, now) instanceof Outcome.Refused<Void>,
                    "the end of one worker is not that of another");
            // A draining one is told of its drain again by the daemon that decided it, and by no other.
            boolean known = route.durable
                    .filter(generation -> generation.generationId().equals(process.generation))
                    .isPresent();
            holds(
                    known
                            || broker.recoverWorker(worker(user, process.id), process.generation, "late", now)
                                    instanceof Outcome.Refused<StagedWorker>,
                    "a revoked generation never recovers");
        }
    }

    /** With nothing but time from here on, every waiting session with a live socket gets a directive. The world is used up. */
    void checkProgress() {
        for (int i = 0; i < 16 && !everyoneIsServed(); i++) {
            holds(broker.nextWakeAt() != Long.MAX_VALUE, "a waiting session gets a directive in the end");
            now = Math.max(now, broker.nextWakeAt());
            follow(broker.advance(this::nextGrant, now));
        }
        holds(everyoneIsServed(), "a waiting session gets a directive in the end");
    }

    /** When everybody has left and the longest grace is over, nothing is left of them. The world is used up. */
    void checkEnd() {
        for (User user : users) {
            List.copyOf(user.requests).forEach(request -> end(user, request, false));
            for (Mcp session : List.copyOf(user.sessions)) {
                user.sessions.remove(session);
                follow(broker.releaseMcp(session.id, now));
            }
            while (!user.processes.isEmpty()) {
                apply(event(Kind.WORKER_EXIT, user.index, 0));
            }
        }
        for (int i = 0; i < 1_000 && broker.nextWakeAt() != Long.MAX_VALUE; i++) {
            now = Math.max(now, broker.nextWakeAt());
            follow(broker.advance(this::nextGrant, now));
        }
        holds(broker.nextWakeAt() == Long.MAX_VALUE, "an empty broker waits for nothing");
        holds(broker.sessions().isEmpty() && broker.workers().isEmpty(), "nobody is left");
        for (User user : users) {
            holds(user.disk.isEmpty() && user.draining.isEmpty(), "no generation is left on disk");
        }
        broker.routes().forEach(route -> holds(route.state() == RouteState.EMPTY, "every route is empty"));
    }

    /** Whether nobody waits but for a launch that a connected session was told to make. */
    boolean everyoneIsServed() {
        for (User user : users) {
            boolean waits = false;
            boolean launches = false;
            for (Mcp session : user.sessions) {
                waits |= session.connected && session.told.equals(Lifecycle.WAIT);
                launches |= session.connected && session.told instanceof Directive.LaunchWorker;
            }
            if (waits && !launches) {
                return false;
            }
        }
        return true;
    }

    // ---- symmetry

    /** The same number for states that differ in names, in who is ann and who is bob, and in the time of day only. */
    long canonical() {
        long first = canonical(users[0]);
        long second = canonical(users[1]);
        return mix(mix(Math.min(first, second)) + Math.max(first, second));
    }

    private long canonical(User user) {
        Route route = broker.tables.routes.get(USERS.get(user.index));
        long h = route == null ? 7 : 11;
        for (Mcp session : user.sessions) {
            h = mix(h + kind(session.told));
            h = mix(h + (session.connected ? 1 : 2) + (session.known ? 4 : 8));
            if (route != null && route.sessions.get(session.id) != null && !session.connected) {
                h = mix(h + left(route.sessions.get(session.id).disconnectedAt + settings.disconnectGraceMs()));
            }
        }
        h = mix(h + 0x51);
        for (Process process : user.processes) {
            h = mix(h
                    + flag(process.connected, 1)
                    + flag(process.published, 2)
                    + flag(process.toldToDrain, 4)
                    + flag(process.acknowledged, 8)
                    + flag(process.heard, 1 << 13)
                    + flag(process.leaving, 1 << 14)
                    + flag(user.routable.filter(process.id::equals).isPresent(), 16)
                    + flag(recorded(user, process), 32)
                    + flag(beingWritten(user, process), 1 << 15)
                    + (requests(user, process.id) << 6)
                    + flag(
                            route != null
                                    && route.worker()
                                            .filter(worker -> worker.id.equals(process.id))
                                            .isPresent(),
                            1 << 12));
        }
        h = mix(h
                + user.requests.size()
                + flag(user.disk.isPresent(), 8)
                + ((long) user.writes.size() << 8)
                + flag(!user.writes.isEmpty() && user.processes.contains(user.writes.getFirst().process), 1 << 10)
                + flag(deadWhileDraining(user).isPresent(), 128)
                + flag(user.grant.isPresent(), 16)
                + flag(user.revoked.isEmpty(), 32)
                + flag(user.gone.isEmpty(), 64));
        return route == null ? h : canonical(route, h);
    }

    private long canonical(Route route, long start) {
        long h = mix(start + route.state.kind().ordinal());
        h = mix(h + Math.min(route.attempts, 3));
        h = switch (route.state) {
            case State.Empty _ -> h;
            case State.Activating activating ->
                mix(h + left(activating.reportAt) + flag(activating.staged.isPresent(), 1));
            case State.Ready ready -> h;
            case State.Draining draining -> mix(h + left(draining.deadline()));
            case State.PassThrough passThrough -> mix(h + left(passThrough.retryAt()));
            case State.Recovering recovering -> mix(h + left(recovering.deadline()));
        };
        Optional<Worker> known = route.worker();
        if (known.isPresent()) {
            Worker worker = known.get();
            h = mix(h
                    + flag(worker.connected, 1)
                    + flag(worker.drainKnown, 2)
                    + flag(worker.ended, 1 << 14)
                    + flag(worker.published, 4)
                    + flag(worker.draining, 8)
                    + (worker.inFlight.get() << 4));
            if (route.state instanceof State.Ready && !worker.published) {
                h = mix(h + left(worker.unavailableSince + settings.disconnectGraceMs()));
            }
        }
        return h;
    }

    private long left(long at) {
        return Math.clamp(at - now, 0, 1 << 20) << 8;
    }

    private static long flag(boolean set, int bit) {
        return set ? bit : 0;
    }

    private static int kind(Directive directive) {
        return switch (directive) {
            case Directive.LaunchWorker _ -> 1;
            case Directive.WaitForWorker _ -> 2;
            case Directive.ReuseWorker _ -> 3;
            case Directive.UsePassThrough _ -> 4;
        };
    }

    private static long mix(long value) {
        long z = (value ^ value >>> 30) * 0xbf58476d1ce4e5b9L;
        z = (z ^ z >>> 27) * 0x94d049bb133111ebL;
        return (z ^ z >>> 31) + 0x9e3779b97f4a7c15L;
    }
}
