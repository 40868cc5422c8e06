package org.nemorelay.broker;

import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.nemorelay.broker.Outcome.Accepted;
import org.nemorelay.broker.Outcome.Refused;
import org.nemorelay.broker.StagedWorker.Permit;
import org.nemorelay.protocol.Digest;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.Fingerprint;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.TokenDigest;

/** A broker with a clock and secrets of its own, spoken to in the words of the edge cases. */
final class Scene {
    static final NetworkHint LOOPBACK = new NetworkHint("127.0.0.1", 0);

    final Broker broker;
    final List<Transition> seen = new ArrayList<>();
    long now = 1_000;
    boolean acknowledgesDrain = true;
    private int secrets;

    Scene(BrokerSettings settings) {
        broker = new Broker(settings);
    }

    static Scene standard() {
        return new Scene(BrokerSettings.of(false, false, 4));
    }

    static Scene strict() {
        return new Scene(BrokerSettings.of(false, true, 4));
    }

    static Fingerprint user(String name) {
        return new Fingerprint(Digest.sha256(name.getBytes(java.nio.charset.StandardCharsets.UTF_8)));
    }

    static TokenDigest token(String text) {
        return TokenDigest.ofSecret(text);
    }

    GrantSecrets nextGrant() {
        int n = ++secrets;
        return new GrantSecrets("activation-" + n, "secret-" + n);
    }

    <T> T accepted(Outcome<T> outcome) {
        seen.addAll(outcome.transitions());
        return switch (outcome) {
            case Accepted<T> accepted -> accepted.value();
            case Refused<T> refused -> throw new AssertionError("refused: " + refused.refusal());
        };
    }

    Refusal refused(Outcome<?> outcome) {
        seen.addAll(outcome.transitions());
        return assertInstanceOf(Refused.class, outcome).refusal();
    }

    Outcome<Registration> tryRegister(String session, String user, String token) {
        return broker.registerMcp(
                new McpRegistration(session, user(user), token(token), LOOPBACK), this::nextGrant, now);
    }

    Directive register(String session, String user) {
        return register(session, user, "token-" + user);
    }

    Directive register(String session, String user, String token) {
        return accepted(tryRegister(session, user, token)).directive();
    }

    LaunchGrant registerOwner(String session, String user) {
        return assertInstanceOf(Directive.LaunchWorker.class, register(session, user))
                .grant();
    }

    Outcome<StagedWorker> tryStage(String worker, String user, String endpoint, LaunchGrant grant) {
        WorkerRegistration registration =
                new WorkerRegistration(user(user), worker, endpoint, Optional.empty(), acknowledgesDrain);
        return broker.stageWorker(
                registration,
                grant.activationId(),
                TokenDigest.ofSecret(grant.activationToken()),
                new WorkerSecrets("generation-" + ++secrets, "data-" + secrets),
                now);
    }

    StagedWorker stage(String worker, String user, LaunchGrant grant) {
        return accepted(tryStage(worker, user, "http://127.0.0.1:4000", grant));
    }

    Outcome<StagedWorker> tryRecover(String worker, String user, String generation) {
        WorkerRegistration registration = new WorkerRegistration(
                user(user), worker, "http://127.0.0.1:4000", Optional.empty(), acknowledgesDrain);
        return broker.recoverWorker(registration, generation, "data-" + ++secrets, now);
    }

    StagedWorker ready(String worker, String user, LaunchGrant grant) {
        StagedWorker staged = stage(worker, user, grant);
        publish(staged.permit());
        return staged;
    }

    void publish(Permit permit) {
        accepted(broker.publish(permit, now));
    }

    /** A user with one session and a ready worker. */
    StagedWorker readyRoute(String session, String user, String worker) {
        return ready(worker, user, registerOwner(session, user));
    }

    List<Transition> advance() {
        List<Transition> transitions = broker.advance(this::nextGrant, now);
        seen.addAll(transitions);
        return transitions;
    }

    List<Transition> after(long ms) {
        now += ms;
        return advance();
    }

    Resolution resolve(String user) {
        return broker.resolve(token("token-" + user));
    }

    WorkerLease lease(String user) {
        return assertInstanceOf(WorkerLease.class, resolve(user));
    }

    RouteState state(String user) {
        return broker.routes().stream()
                .filter(route -> route.fingerprint().equals(user(user)))
                .findFirst()
                .orElseThrow()
                .state();
    }

    static <T extends Transition> List<T> of(Class<T> type, List<Transition> transitions) {
        return transitions.stream().filter(type::isInstance).map(type::cast).toList();
    }

    <T extends Transition> List<T> seen(Class<T> type) {
        return of(type, seen);
    }

    /** The launch that was pushed last. */
    Optional<Directive> lastTold(String session) {
        return seen(Transition.DirectiveChanged.class).stream()
                .filter(told -> told.sessionId().equals(session))
                .map(Transition.DirectiveChanged::directive)
                .reduce((first, second) -> second);
    }

    LaunchGrant lastLaunch(String session) {
        return assertInstanceOf(Directive.LaunchWorker.class, lastTold(session).orElseThrow())
                .grant();
    }
}
