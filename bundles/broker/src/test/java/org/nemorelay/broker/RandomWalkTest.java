package org.nemorelay.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;

/** Long random lives of two users; what must hold after every event (issue: lifecycle, invariants). */
class RandomWalkTest {
    private static final List<String> USERS = List.of("ann", "bob");
    private static final List<String> SESSIONS = List.of("a", "b", "c");

    private final Scene scene = Scene.standard();
    private final Map<String, LaunchGrant> held = new HashMap<>();
    private final Map<String, StagedWorker> staged = new HashMap<>();
    private final Map<String, Directive> told = new HashMap<>();
    private final List<WorkerLease> leases = new ArrayList<>();
    private final Set<String> drained = new HashSet<>();

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void invariantsHold(long seed) {
        Random random = new Random(seed);
        for (int i = 0; i < 6_000; i++) {
            event(random);
            scene.advance();
            follow();
            check();
        }
        leases.forEach(WorkerLease::release);
        for (String user : USERS) {
            SESSIONS.forEach(session -> scene.broker.releaseMcp(session + user, scene.now));
        }
        scene.after(200_000);
        scene.after(200_000);
        follow();
        scene.broker.routes().forEach(route -> assertEquals(RouteState.EMPTY, route.state()));
        assertEquals(List.of(), scene.broker.workers());
    }

    private void event(Random random) {
        String user = USERS.get(random.nextInt(USERS.size()));
        String session = SESSIONS.get(random.nextInt(SESSIONS.size())) + user;
        switch (random.nextInt(16)) {
            case 0, 1, 2 -> told.put(session, scene.register(session, user));
            case 3 -> {
                scene.broker.mcpDisconnected(session, scene.now).transitions().forEach(scene.seen::add);
                told.remove(session);
            }
            case 4 -> {
                scene.seen.addAll(scene.broker.releaseMcp(session, scene.now).transitions());
                told.remove(session);
            }
            case 5, 6 -> {
                if (held.get(user) != null) {
                    LaunchGrant grant = held.get(user);
                    String worker = grant.activationId() + (random.nextInt(4) == 0 ? "-thief" : "");
                    stage(user, scene.tryStage(worker, user, "http://127.0.0.1:4000", grant));
                }
            }
            case 7, 8 ->
                withStaged(
                        user,
                        worker -> scene.seen.addAll(
                                scene.broker.publish(worker.permit(), scene.now).transitions()));
            case 9 ->
                withStaged(
                        user,
                        worker -> scene.seen.addAll(scene.broker
                                .probeFailed(worker.permit(), scene.now)
                                .transitions()));
            case 10 ->
                withStaged(
                        user,
                        worker -> scene.seen.addAll(scene.broker
                                .workerDisconnected(worker.permit(), scene.now)
                                .transitions()));
            case 11 ->
                withStaged(
                        user,
                        worker ->
                                stage(user, scene.tryRecover(worker.permit().workerId(), user, worker.generationId())));
            case 12 -> {
                if (scene.resolve(user) instanceof WorkerLease lease) {
                    assertFalse(drained.contains(lease.workerId()), "a draining worker is never ready");
                    leases.add(lease);
                }
            }
            case 13 -> {
                if (!leases.isEmpty()) {
                    WorkerLease lease = leases.remove(random.nextInt(leases.size()));
                    if (random.nextInt(3) == 0) {
                        scene.seen.addAll(
                                scene.broker.workerFailed(lease, scene.now).transitions());
                    }
                    if (lease.release()) {
                        scene.seen.addAll(scene.broker
                                .drainProgress(lease.workerId(), scene.now)
                                .transitions());
                    }
                }
            }
            case 14 ->
                withStaged(
                        user,
                        worker -> scene.seen.addAll(scene.broker
                                .drainAcknowledged(worker.permit().workerId(), scene.now)
                                .transitions()));
            default -> scene.now += random.nextInt(4) == 0 ? 30_000 : random.nextInt(1_500);
        }
    }

    private void withStaged(String user, java.util.function.Consumer<StagedWorker> action) {
        StagedWorker worker = staged.get(user);
        if (worker != null) {
            action.accept(worker);
        }
    }

    private void stage(String user, Outcome<StagedWorker> outcome) {
        scene.seen.addAll(outcome.transitions());
        if (outcome instanceof Outcome.Accepted<StagedWorker> accepted) {
            staged.put(user, accepted.value());
        }
    }

    /** What the sessions hear. */
    private void follow() {
        for (Transition transition : scene.seen) {
            switch (transition) {
                case Transition.DirectiveChanged changed -> told.put(changed.sessionId(), changed.directive());
                case Transition.DrainBegan drain -> drained.add(drain.workerId());
                default -> {}
            }
        }
        scene.seen.clear();
        told.forEach((session, directive) -> {
            if (directive instanceof Directive.LaunchWorker launch) {
                held.put(session.substring(1), launch.grant());
            }
        });
    }

    private void check() {
        for (RouteStatus route : scene.broker.routes()) {
            String user = route.fingerprint().equals(Scene.user("ann")) ? "ann" : "bob";
            Set<String> grants = new HashSet<>();
            int owners = 0;
            for (SessionStatus session : scene.broker.sessions()) {
                if (!session.fingerprint().equals(route.fingerprint()) || !session.connected()) {
                    continue;
                }
                Directive directive = told.get(session.sessionId());
                if (directive instanceof Directive.LaunchWorker launch) {
                    grants.add(launch.grant().activationId());
                    owners++;
                }
                boolean fits = switch (route.state()) {
                    case EMPTY -> false;
                    case ACTIVATING ->
                        directive instanceof Directive.LaunchWorker || directive instanceof Directive.WaitForWorker;
                    case READY ->
                        route.worker().orElseThrow().controlAvailable()
                                ? directive instanceof Directive.ReuseWorker
                                : directive instanceof Directive.WaitForWorker;
                    case DRAINING, RECOVERING -> directive instanceof Directive.WaitForWorker;
                    case PASS_THROUGH -> directive instanceof Directive.UsePassThrough;
                };
                assertTrue(fits, () -> "in " + route + " " + session + " was told " + directive);
            }
            assertTrue(owners <= 1 && grants.size() <= 1, "one live grant per route");
            assertEquals(route.state() == RouteState.ACTIVATING ? 1 : 0, owners, () -> "owner of " + route);
            route.worker().ifPresent(worker -> {
                assertTrue(worker.inFlight() >= 0);
                long expected = leases.stream()
                        .filter(lease -> lease.workerId().equals(worker.workerId()))
                        .count();
                assertEquals(expected, worker.inFlight());
            });
            assertTrue(!(scene.resolve(user) instanceof WorkerLease lease)
                    || release(lease) && route.state() == RouteState.READY);
        }
    }

    private static boolean release(WorkerLease lease) {
        lease.release();
        return true;
    }
}
