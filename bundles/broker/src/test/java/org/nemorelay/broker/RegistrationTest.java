package org.nemorelay.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;

class RegistrationTest {
    @Test
    void case01OwnersRepeatedRegistrationReturnsTheSameGrant() {
        Scene scene = Scene.standard();
        LaunchGrant first = scene.registerOwner("a", "ann");
        assertEquals(first, scene.registerOwner("a", "ann"));
    }

    @Test
    void case02ThirtyTwoRacingRegistrationsMakeOneLaunch() throws Exception {
        Broker broker = new Broker(BrokerSettings.of(false, false, 4));
        AtomicInteger secrets = new AtomicInteger();
        CountDownLatch start = new CountDownLatch(1);
        List<Future<Directive>> answers = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(32)) {
            for (int i = 0; i < 32; i++) {
                String session = "session-" + i;
                answers.add(threads.submit(() -> {
                    start.await();
                    McpRegistration request =
                            new McpRegistration(session, Scene.user("ann"), Scene.token("token"), Scene.LOOPBACK);
                    Outcome<Registration> outcome = broker.registerMcp(
                            request, () -> new GrantSecrets("a" + secrets.incrementAndGet(), "s"), 1_000);
                    return assertInstanceOf(Outcome.Accepted.class, outcome).value() instanceof Registration done
                            ? done.directive()
                            : null;
                }));
            }
            start.countDown();
            int launches = 0;
            for (Future<Directive> answer : answers) {
                switch (answer.get()) {
                    case Directive.LaunchWorker _ -> launches++;
                    case Directive other -> assertEquals(new Directive.WaitForWorker(100), other);
                }
            }
            assertEquals(1, launches);
        }
    }

    @Test
    void case06TokenOfOneIdentityCannotBindToAnother() {
        Scene scene = Scene.standard();
        scene.register("a", "ann", "first");
        scene.register("b", "ann", "joined");
        scene.register("c", "bob", "bobs");
        assertEquals(Refusal.TOKEN_BOUND_ELSEWHERE, scene.refused(scene.tryRegister("d", "bob", "first")));
        assertEquals(Refusal.TOKEN_BOUND_ELSEWHERE, scene.refused(scene.tryRegister("e", "bob", "joined")));
        assertEquals(Refusal.TOKEN_BOUND_ELSEWHERE, scene.refused(scene.tryRegister("f", "new", "first")));
    }

    @Test
    void case07TwoTokensOfOneIdentityShareRouteAndWorker() {
        Scene scene = Scene.standard();
        LaunchGrant grant = scene.registerOwner("a", "ann");
        assertEquals(new Directive.WaitForWorker(100), scene.register("b", "ann", "second"));
        scene.ready("w", "ann", grant);
        assertEquals("w", scene.lease("ann").workerId());
        assertEquals(
                "w",
                assertInstanceOf(WorkerLease.class, scene.broker.resolve(Scene.token("second")))
                        .workerId());
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        assertInstanceOf(Directive.ReuseWorker.class, scene.register("c", "ann"));
        assertInstanceOf(Directive.ReuseWorker.class, scene.register("d", "ann", "second"));
        assertEquals(1, scene.broker.routes().size());
    }

    @Test
    void case08OverLimitTokenIsRefusedAndStaysUnknown() {
        Scene scene = new Scene(BrokerSettings.of(false, false, 2));
        scene.register("a", "ann", "one");
        scene.register("b", "ann", "two");
        assertEquals(Refusal.TOKEN_LIMIT, scene.refused(scene.tryRegister("c", "ann", "three")));
        scene.register("d", "ann", "one");
        assertEquals(
                new Resolution.PassThrough(false, Resolution.Reason.UNBOUND),
                scene.broker.resolve(Scene.token("three")));
        scene.register("e", "bob", "three");
    }

    @Test
    void leastRecentlyRegisteredIdleTokenMakesRoom() {
        Scene scene = new Scene(BrokerSettings.of(false, false, 2));
        scene.register("a", "ann", "one");
        scene.register("b", "ann", "two");
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        scene.accepted(scene.broker.releaseMcp("b", scene.now));
        scene.register("c", "ann", "one");
        scene.accepted(scene.broker.releaseMcp("c", scene.now));
        scene.register("d", "ann", "three");
        assertEquals(1, scene.seen(Transition.TokenReleased.class).size());
        scene.register("e", "bob", "two");
        assertEquals(Refusal.TOKEN_BOUND_ELSEWHERE, scene.refused(scene.tryRegister("f", "bob", "one")));
    }

    @Test
    void aSessionThatComesBackMakesItsTokenTheMostRecentOne() {
        Scene scene = new Scene(BrokerSettings.of(false, false, 2));
        scene.register("a", "ann", "one");
        scene.register("b", "ann", "two");
        scene.register("a", "ann", "one");
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        scene.accepted(scene.broker.releaseMcp("b", scene.now));
        scene.register("c", "ann", "three");
        scene.register("d", "bob", "two");
        assertEquals(Refusal.TOKEN_BOUND_ELSEWHERE, scene.refused(scene.tryRegister("e", "bob", "one")));
    }

    /** Relay-daemon 5.4; the settings of other tests are their own. */
    @Test
    void theDocumentedLimits() {
        Scene scene = Scene.standard();
        for (int user = 0; user < 8; user++) {
            for (int session = 0; session < 1_024; session++) {
                scene.register(user + "-" + session, "user-" + user);
            }
        }
        assertEquals(Refusal.SESSION_CAPACITY, scene.refused(scene.tryRegister("more", "new", "token-new")));
        scene.accepted(scene.broker.releaseMcp("0-0", scene.now));
        assertEquals(Refusal.REFERENCE_CAPACITY, scene.refused(scene.tryRegister("more", "user-1", "token-user-1")));
        Scene routes = Scene.standard();
        for (int user = 0; user < 4_096; user++) {
            routes.register("s" + user, "user-" + user);
        }
        assertEquals(Refusal.ROUTE_CAPACITY, routes.refused(routes.tryRegister("more", "new", "token-new")));
    }

    @Test
    void case28CapacityOfOneIsFreedWhenTheFirstRouteIsEmpty() {
        Scene scene = new Scene(new BrokerSettings(false, false, 4, 1, 1_024, 8_192, 30_000, 120_000, 60_000, 300_000));
        scene.register("a", "ann");
        assertEquals(Refusal.ROUTE_CAPACITY, scene.refused(scene.tryRegister("b", "bob", "bobs")));
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        scene.register("b", "bob", "bobs");
        assertEquals(
                List.of(new Transition.RouteEvicted(Scene.user("ann"))), scene.seen(Transition.RouteEvicted.class));
    }

    @Test
    void case29EvictionUnbindsAllTokens() {
        Scene scene = new Scene(new BrokerSettings(false, false, 4, 1, 1_024, 8_192, 30_000, 120_000, 60_000, 300_000));
        scene.register("a", "ann", "one");
        scene.register("b", "ann", "two");
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        scene.accepted(scene.broker.releaseMcp("b", scene.now));
        scene.register("c", "bob", "fresh");
        scene.register("d", "bob", "one");
        scene.register("e", "bob", "two");
    }

    @Test
    void case34UnknownSessionsAreNoOpsOrErrors() {
        Scene scene = Scene.standard();
        scene.accepted(scene.broker.releaseMcp("nobody", scene.now));
        assertEquals(Refusal.UNKNOWN_SESSION, scene.refused(scene.broker.mcpDisconnected("nobody", scene.now)));
        assertEquals(Refusal.UNKNOWN_SESSION, scene.refused(scene.broker.cancelActivation("nobody", "x", scene.now)));
        assertEquals(Refusal.UNKNOWN_ROUTE, scene.refused(scene.tryRecover("w", "ann", "g")));
        assertTrue(scene.seen.isEmpty());
    }

    @Test
    void case61SessionIdStaysWithItsIdentityTokenAndNetwork() {
        Scene scene = Scene.standard();
        scene.register("a", "ann");
        assertEquals(Refusal.SESSION_BOUND_ELSEWHERE, scene.refused(scene.tryRegister("a", "bob", "other")));
        assertEquals(Refusal.SESSION_BOUND_ELSEWHERE, scene.refused(scene.tryRegister("a", "ann", "other")));
        McpRegistration elsewhere = new McpRegistration(
                "a", Scene.user("ann"), Scene.token("token-ann"), new NetworkHint("client.example", 0));
        assertEquals(
                Refusal.SESSION_BOUND_ELSEWHERE,
                scene.refused(scene.broker.registerMcp(elsewhere, scene::nextGrant, scene.now)));
        scene.register("a", "ann");
    }

    @Test
    void quotasOfSessionsAndReferences() {
        Scene scene = new Scene(new BrokerSettings(false, false, 4, 4_096, 1, 2, 30_000, 120_000, 60_000, 300_000));
        scene.register("a", "ann");
        assertEquals(Refusal.REFERENCE_CAPACITY, scene.refused(scene.tryRegister("b", "ann", "token-ann")));
        scene.register("c", "bob");
        assertEquals(Refusal.SESSION_CAPACITY, scene.refused(scene.tryRegister("d", "eve", "token-eve")));
    }

    @Test
    void grantFollowsTheNetworkHint() {
        Scene scene = Scene.standard();
        McpRegistration remote =
                new McpRegistration("a", Scene.user("ann"), Scene.token("t"), new NetworkHint("client.example", 7_000));
        Directive directive = scene.accepted(scene.broker.registerMcp(remote, scene::nextGrant, scene.now))
                .directive();
        LaunchGrant grant =
                assertInstanceOf(Directive.LaunchWorker.class, directive).grant();
        assertEquals("0.0.0.0", grant.bindIp());
        assertEquals("client.example", grant.advertiseAddress().orElseThrow());
        assertEquals(7_000, grant.port());
        assertEquals(LaunchGrant.NO_DEADLINE, grant.deadlineUnixMs());
        LaunchGrant local = scene.registerOwner("b", "bob");
        assertEquals("127.0.0.1", local.bindIp());
        assertTrue(local.advertiseAddress().isEmpty());
        assertNotEquals(grant.activationId(), local.activationId());
    }
}
