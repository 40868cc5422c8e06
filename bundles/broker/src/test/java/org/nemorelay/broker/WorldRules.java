package org.nemorelay.broker;

import java.util.List;
import org.nemorelay.broker.WorldUser.Drain;
import org.nemorelay.broker.WorldUser.Mcp;
import org.nemorelay.broker.WorldUser.Process;
import org.nemorelay.broker.WorldUser.Request;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;

/** What must hold in a {@link World}. A violation is an {@link AssertionError}. */
final class WorldRules {
    private final World world;

    WorldRules(World world) {
        this.world = world;
    }

    static void holds(boolean fact, String rule) {
        if (!fact) {
            throw new AssertionError(rule);
        }
    }

    /** Holds in every state; what it tries is refused and changes nothing. */
    void check() {
        for (WorldUser user : world.users) {
            Route route = world.broker.tables.routes.get(World.USERS.get(user.index));
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

    private void checkSessions(WorldUser user, Route route) {
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
                            ? World.grantOf(session).equals(activating.grant) && activating.owner.equals(session.id)
                            : session.told.equals(Lifecycle.WAIT);
                case State.Ready ready ->
                    ready.worker().published
                            ? session.told.equals(new Directive.ReuseWorker(World.ENDPOINT))
                            : session.told.equals(Lifecycle.WAIT);
                case State.Draining _, State.Recovering _ -> session.told.equals(Lifecycle.WAIT);
                case State.PassThrough _ -> session.told instanceof Directive.UsePassThrough;
            };
            holds(fits, "a session knows what its route is: " + route.state.kind() + ", " + session.told);
        }
        holds(owners == (route.state instanceof State.Activating ? 1 : 0), "a launch has one owner with a live socket");
        holds(user.grant.isPresent() == owners > 0, "one live grant per route");
    }

    private void checkWorkers(WorldUser user, Route route) {
        holds(
                route.state instanceof State.Draining draining
                        ? user.disk.isEmpty()
                                && user.draining
                                        .filter(drain -> drain.workerId().equals(draining.worker().id))
                                        .isPresent()
                        : (route.durable.equals(user.disk) || user.recordedAhead(route)) && user.draining.isEmpty(),
                "the broker knows what is on disk");
        if (route.state instanceof State.Activating) {
            for (Process process : user.processes) {
                holds(
                        process.drainDeadline == Long.MAX_VALUE
                                || user.exited(process)
                                || world.now >= process.drainDeadline,
                        "a replacement is nominated when the old worker has exited");
            }
            holds(user.disk.isEmpty() || user.recordedAhead(route), "no launch while a saved generation may return");
        }
        if (route.state instanceof State.Draining draining) {
            holds(draining.deadline() > world.now, "a drain ends at its deadline");
            user.process(draining.worker().id).ifPresent(process -> {
                holds(!user.exited(process), "a drain ends with its worker");
                holds(
                        !process.leaving || user.requests(process.id) > 0,
                        "a worker that leaves is let go as soon as nothing is under way to it");
            });
        }
        // Draining or not: what the broker would publish now is a live process that does not drain.
        for (Process process : user.processes) {
            if (process.drainDeadline != Long.MAX_VALUE) {
                holds(
                        world.broker.publish(process.permit, world.now) instanceof Outcome.Refused<Void>,
                        "a draining worker is never ready");
            }
        }
    }

    private void checkRequests(WorldUser user, Route route) {
        switch (world.broker.resolve(World.TOKENS.get(user.index))) {
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
                .ifPresent(worker ->
                        holds(worker.inFlight.get() == user.requests(worker.id), "in-flight counts the open requests"));
        for (Request request : user.requests) {
            holds(
                    request.workerId().equals(request.lease().workerId())
                            && request.dataToken().equals(request.lease().dataToken())
                            && request.generation().equals(request.lease().generationId()),
                    "a request's destination never changes");
            holds(
                    request.lease().target().worker.inFlight.get() == user.requests(request.workerId()),
                    "in-flight is never negative and counts the open requests");
        }
    }

    private void checkRefusals(WorldUser user, Route route) {
        for (LaunchGrant grant : user.revoked) {
            holds(
                    world.stage(user, "late", grant) instanceof Outcome.Refused<StagedWorker>,
                    "a revoked or superseded grant never registers");
        }
        for (Process process : user.gone) {
            holds(
                    world.broker.publish(process.permit, world.now) instanceof Outcome.Refused<Void>,
                    "a worker that was given up is never published");
            holds(
                    user.draining
                                    .map(Drain::workerId)
                                    .filter(process.id::equals)
                                    .isPresent()
                            || world.broker.workerEnded(process.id, world.now) instanceof Outcome.Refused<Void>,
                    "the end of one worker is not that of another");
            // A draining one is told of its drain again by the daemon that decided it, and by no other.
            boolean known = route.durable
                    .filter(generation -> generation.generationId().equals(process.generation))
                    .isPresent();
            holds(
                    known
                            || world.broker.recoverWorker(
                                            world.worker(user, process.id), process.generation, "late", world.now)
                                    instanceof Outcome.Refused<StagedWorker>,
                    "a revoked generation never recovers");
        }
    }

    /** With nothing but time from here on, every waiting session with a live socket gets a directive. The world is used up. */
    void checkProgress() {
        for (int i = 0; i < 16 && !everyoneIsServed(); i++) {
            holds(world.broker.nextWakeAt() != Long.MAX_VALUE, "a waiting session gets a directive in the end");
            world.now = Math.max(world.now, world.broker.nextWakeAt());
            world.follow(world.broker.advance(world::nextGrant, world.now));
        }
        holds(everyoneIsServed(), "a waiting session gets a directive in the end");
    }

    /** When everybody has left and the longest grace is over, nothing is left of them. The world is used up. */
    void checkEnd() {
        for (WorldUser user : world.users) {
            List.copyOf(user.requests).forEach(request -> world.end(user, request, false));
            for (Mcp session : List.copyOf(user.sessions)) {
                user.sessions.remove(session);
                world.follow(world.broker.releaseMcp(session.id, world.now));
            }
            while (!user.processes.isEmpty()) {
                world.apply(World.event(World.Kind.WORKER_EXIT, user.index, 0));
            }
        }
        for (int i = 0; i < 1_000 && world.broker.nextWakeAt() != Long.MAX_VALUE; i++) {
            world.now = Math.max(world.now, world.broker.nextWakeAt());
            world.follow(world.broker.advance(world::nextGrant, world.now));
        }
        holds(world.broker.nextWakeAt() == Long.MAX_VALUE, "an empty broker waits for nothing");
        holds(world.broker.sessions().isEmpty() && world.broker.workers().isEmpty(), "nobody is left");
        for (WorldUser user : world.users) {
            holds(user.disk.isEmpty() && user.draining.isEmpty(), "no generation is left on disk");
        }
        world.broker.routes().forEach(route -> holds(route.state() == RouteState.EMPTY, "every route is empty"));
    }

    /** Whether nobody waits but for a launch that a connected session was told to make. */
    boolean everyoneIsServed() {
        for (WorldUser user : world.users) {
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
}
