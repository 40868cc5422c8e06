package org.nemorelay.broker;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.TokenDigest;

/** Who is known: routes, their tokens, sessions and workers, within the limits of relay-daemon 5.4 and 5.5. */
final class Tables {
    /** Read by requests without the broker's lock. */
    final ConcurrentHashMap<TokenDigest, Binding> tokens = new ConcurrentHashMap<>();

    final Map<Fingerprint, Route> routes = new HashMap<>();
    final Map<String, Session> sessions = new HashMap<>();

    /** Routes by the id of their staged or assigned worker. */
    final Map<String, Route> workers = new HashMap<>();

    final TreeSet<Route> timers = new TreeSet<>(
            Comparator.<Route>comparingLong(route -> route.wakeAt).thenComparing(route -> route.fingerprint));
    final LinkedHashSet<Route> evictable = new LinkedHashSet<>();
    private final BrokerSettings settings;

    Tables(BrokerSettings settings) {
        this.settings = settings;
    }

    boolean evictOne(List<Transition> out) {
        Iterator<Route> unused = evictable.iterator();
        if (!unused.hasNext()) {
            return false;
        }
        Route route = unused.next();
        unused.remove();
        timers.remove(route);
        routes.remove(route.fingerprint);
        route.tokens.keySet().forEach(tokens::remove);
        out.add(new Transition.RouteEvicted(route.fingerprint));
        return true;
    }

    /** Binds the token, or makes it the most recently registered one. */
    Binding bind(Route route, TokenDigest token) {
        Binding binding = route.tokens.remove(token);
        if (binding == null) {
            binding = new Binding(route);
            tokens.put(token, binding);
        }
        route.tokens.put(token, binding);
        return binding;
    }

    boolean makeTokenRoom(Route route, List<Transition> out) {
        if (route.tokens.size() < settings.maxTokensPerIdentity()) {
            return true;
        }
        Iterator<Map.Entry<TokenDigest, Binding>> oldest =
                route.tokens.entrySet().iterator();
        while (oldest.hasNext()) {
            Map.Entry<TokenDigest, Binding> entry = oldest.next();
            if (entry.getValue().sessions == 0) {
                oldest.remove();
                tokens.remove(entry.getKey());
                out.add(new Transition.TokenReleased(route.fingerprint));
                return true;
            }
        }
        return false;
    }

    private RouteStatus status(Route route) {
        int connected = 0;
        Collection<Session> all = route.sessions.values();
        for (Session session : all) {
            connected += session.connected ? 1 : 0;
        }
        return new RouteStatus(
                route.fingerprint,
                route.state.kind(),
                route.tokens.size(),
                all.size(),
                connected,
                workerStatus(route),
                until(route));
    }

    private OptionalLong until(Route route) {
        return switch (route.state) {
            case State.Ready ready
            when !ready.worker().published ->
                OptionalLong.of(ready.worker().unavailableSince + settings.disconnectGraceMs());
            case State.Draining draining -> OptionalLong.of(draining.deadline());
            case State.Recovering recovering
            when route.durable.isPresent() || recovering.worker().isPresent() -> OptionalLong.of(recovering.deadline());
            case State.Empty _, State.Activating _, State.Ready _, State.PassThrough _, State.Recovering _ ->
                OptionalLong.empty();
        };
    }

    private static Optional<RouteStatus.WorkerStatus> workerStatus(Route route) {
        return route.assignedWorker()
                .map(worker -> new RouteStatus.WorkerStatus(
                        worker.id,
                        route.state.kind(),
                        route.sessions.size(),
                        worker.draining ? worker.connected : worker.published,
                        worker.inFlight.get()));
    }

    /** Every route, by fingerprint. */
    List<RouteStatus> routeStatus() {
        List<RouteStatus> all = new ArrayList<>();
        for (Route route : routes.values()) {
            all.add(status(route));
        }
        all.sort(Comparator.comparing(RouteStatus::fingerprint));
        return all;
    }

    /** Every assigned worker, by id (relay-daemon 2). */
    List<RouteStatus.WorkerStatus> workerStatus() {
        List<RouteStatus.WorkerStatus> all = new ArrayList<>();
        for (Route route : workers.values()) {
            workerStatus(route).ifPresent(all::add);
        }
        all.sort(Comparator.comparing(RouteStatus.WorkerStatus::workerId));
        return all;
    }

    /** Every session, by id. */
    List<SessionStatus> sessionStatus() {
        List<SessionStatus> all = new ArrayList<>();
        for (Session session : sessions.values()) {
            all.add(new SessionStatus(session.id(), session.route.fingerprint, session.connected));
        }
        all.sort(Comparator.comparing(SessionStatus::sessionId));
        return all;
    }
}
