package org.nemorelay.broker;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.broker.Transition.McpRemoved;
import org.nemorelay.protocol.control.CancelOutcome;

/** What MCP sessions do: see {@link Broker}, whose lock is held here. */
final class SessionEvents {
    private final BrokerSettings settings;
    private final Tables tables;
    private final Lifecycle lifecycle;

    SessionEvents(BrokerSettings settings, Tables tables, Lifecycle lifecycle) {
        this.settings = settings;
        this.tables = tables;
        this.lifecycle = lifecycle;
    }

    Outcome<Registration> register(McpRegistration request, GrantSecrets.Source grants, long now) {
        List<Transition> out = new ArrayList<>();
        Session session = tables.sessions.get(request.sessionId());
        boolean added = session == null;
        if (added) {
            Binding bound = tables.tokens.get(request.token());
            if (bound != null && !bound.route.fingerprint.equals(request.fingerprint())) {
                return new Outcome.Refused<>(Refusal.TOKEN_BOUND_ELSEWHERE, out);
            }
            if (tables.sessions.size() >= settings.maxSessions()) {
                return new Outcome.Refused<>(Refusal.SESSION_CAPACITY, out);
            }
            Route route = tables.routes.get(request.fingerprint());
            if (route == null) {
                if (tables.routes.size() >= settings.maxRoutes() && !tables.evictOne(out)) {
                    return new Outcome.Refused<>(Refusal.ROUTE_CAPACITY, out);
                }
                route = lifecycle.addRoute(request.fingerprint());
            }
            if (route.sessions.size() >= settings.maxReferencesPerRoute()) {
                return new Outcome.Refused<>(Refusal.REFERENCE_CAPACITY, out);
            }
            if (bound == null && !tables.makeTokenRoom(route, out)) {
                return new Outcome.Refused<>(Refusal.TOKEN_LIMIT, out);
            }
            session = new Session(request, tables.bind(route, request.token()), Lifecycle.WAIT);
            session.binding.sessions++;
            tables.sessions.put(request.sessionId(), session);
            route.sessions.put(request.sessionId(), session);
        } else if (!session.registration.equals(request)) {
            return new Outcome.Refused<>(Refusal.SESSION_BOUND_ELSEWHERE, out);
        } else {
            session.connected = true;
            tables.bind(session.route, request.token());
        }
        Route route = session.route;
        lifecycle.step(route, request.sessionId(), grants, now, out);
        session.told = Lifecycle.directive(route, session);
        if (added) {
            out.add(new Transition.McpAdded(route.fingerprint, session.id(), session.told));
        }
        lifecycle.settle(route, now, out);
        return new Outcome.Accepted<>(new Registration(session.told, added), out);
    }

    Outcome<Void> disconnected(String sessionId, long now) {
        List<Transition> out = new ArrayList<>();
        Session session = tables.sessions.get(sessionId);
        if (session == null) {
            return new Outcome.Refused<>(Refusal.UNKNOWN_SESSION, out);
        }
        if (session.connected) {
            session.connected = false;
            session.disconnectedAt = now;
            if (session.route.state instanceof State.Activating activating && activating.owner.equals(sessionId)) {
                lifecycle.cancel(session.route, activating, now, out);
            }
            lifecycle.settle(session.route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    Outcome<Void> release(String sessionId, long now) {
        List<Transition> out = new ArrayList<>();
        Session session = tables.sessions.get(sessionId);
        if (session != null) {
            lifecycle.remove(session, McpRemoved.Cause.RELEASED, now, out);
            lifecycle.settle(session.route, now, out);
        }
        return new Outcome.Accepted<>(null, out);
    }

    Outcome<Void> activationFailed(String sessionId, String activationId, String reason, long now) {
        List<Transition> out = new ArrayList<>();
        Optional<Refusal> refusal = refusal(sessionId, activationId);
        if (refusal.isPresent()) {
            return new Outcome.Refused<>(refusal.get(), out);
        }
        Route route = tables.sessions.get(sessionId).route;
        activating(route, activationId).ifPresent(activating -> {
            lifecycle.fail(route, activating, reason, now, out);
            lifecycle.settle(route, now, out);
        });
        return new Outcome.Accepted<>(null, out);
    }

    Outcome<CancelOutcome> cancelActivation(String sessionId, String activationId, long now) {
        List<Transition> out = new ArrayList<>();
        Optional<Refusal> refusal = refusal(sessionId, activationId);
        if (refusal.isPresent()) {
            return new Outcome.Refused<>(refusal.get(), out);
        }
        Route route = tables.sessions.get(sessionId).route;
        Optional<State.Activating> activating = activating(route, activationId);
        if (activating.isPresent()) {
            lifecycle.cancel(route, activating.get(), now, out);
            lifecycle.settle(route, now, out);
            return new Outcome.Accepted<>(CancelOutcome.CANCELLED, out);
        }
        CancelOutcome outcome =
                route.wasPublished(activationId, now) ? CancelOutcome.PUBLISHED : CancelOutcome.SUPERSEDED;
        return new Outcome.Accepted<>(outcome, out);
    }

    /** An activation that is under way is the matter of the session that launched it alone. */
    private Optional<Refusal> refusal(String sessionId, String activationId) {
        Session session = tables.sessions.get(sessionId);
        return session == null
                ? Optional.of(Refusal.UNKNOWN_SESSION)
                : activating(session.route, activationId)
                        .filter(activating -> !activating.owner.equals(sessionId))
                        .map(activating -> Refusal.NOT_LAUNCH_OWNER);
    }

    private static Optional<State.Activating> activating(Route route, String activationId) {
        return route.state instanceof State.Activating activating
                        && activating.grant.activationId().equals(activationId)
                ? Optional.of(activating)
                : Optional.empty();
    }
}
