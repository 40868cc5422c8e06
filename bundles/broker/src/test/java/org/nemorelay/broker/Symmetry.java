package org.nemorelay.broker;

import java.util.Optional;
import org.nemorelay.broker.WorldUser.Mcp;
import org.nemorelay.broker.WorldUser.Process;
import org.nemorelay.protocol.Directive;

/** Makes states alike that differ in nothing that matters. */
final class Symmetry {
    private final World world;

    Symmetry(World world) {
        this.world = world;
    }

    /** The same number for states that differ in names, in who is ann and who is bob, and in the time of day only. */
    long canonical() {
        long first = canonical(world.users[0]);
        long second = canonical(world.users[1]);
        return mix(mix(Math.min(first, second)) + Math.max(first, second));
    }

    private long canonical(WorldUser user) {
        Route route = world.broker.tables.routes.get(World.USERS.get(user.index));
        long h = route == null ? 7 : 11;
        for (Mcp session : user.sessions) {
            h = mix(h + kind(session.told));
            h = mix(h + (session.connected ? 1 : 2) + (session.known ? 4 : 8));
            if (route != null && route.sessions.get(session.id) != null && !session.connected) {
                h = mix(h + left(route.sessions.get(session.id).disconnectedAt + world.settings.disconnectGraceMs()));
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
                    + flag(user.recorded(process), 32)
                    + flag(user.beingWritten(process), 1 << 15)
                    + (user.requests(process.id) << 6)
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
                + flag(
                        !user.writes.isEmpty()
                                && user.processes.contains(
                                        user.writes.getFirst().process()),
                        1 << 10)
                + flag(user.deadWhileDraining().isPresent(), 128)
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
                h = mix(h + left(worker.unavailableSince + world.settings.disconnectGraceMs()));
            }
        }
        return h;
    }

    private long left(long at) {
        return Math.clamp(at - world.now, 0, 1 << 20) << 8;
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
