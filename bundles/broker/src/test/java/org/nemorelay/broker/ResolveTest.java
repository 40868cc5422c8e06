package org.nemorelay.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.nemorelay.broker.Resolution.PassThrough;
import org.nemorelay.broker.Resolution.Reason;
import org.nemorelay.broker.Resolution.Unavailable;
import org.nemorelay.protocol.LaunchGrant;

class ResolveTest {
    @Test
    void case03InFlightRisesOnResolveAndFallsOnRelease() {
        Scene scene = Scene.standard();
        scene.readyRoute("a", "ann", "w");
        WorkerLease one = scene.lease("ann");
        WorkerLease two = scene.lease("ann");
        assertEquals(2, scene.broker.workers().getFirst().inFlight());
        assertFalse(one.release());
        assertFalse(one.release(), "a second release of the same lease counts nothing");
        assertEquals(1, scene.broker.workers().getFirst().inFlight());
        two.release();
        assertEquals(0, scene.broker.workers().getFirst().inFlight());
    }

    @Test
    void case04And05StatusListsAssignedWorkersOnlyById() {
        Scene scene = Scene.standard();
        scene.broker.restore(Scene.user("old"), new Generation("g", java.util.Optional.empty()), 30_000);
        scene.broker.restore(Scene.user("lost"), new Generation("g2", java.util.Optional.empty()), 30_000);
        scene.register("o", "old");
        scene.accepted(scene.tryRecover("m-recovering", "old", "g"));
        scene.readyRoute("a", "ann", "z-ready");
        scene.readyRoute("b", "bob", "a-draining");
        scene.accepted(scene.broker.releaseMcp("b", scene.now));
        LaunchGrant failed = scene.registerOwner("e", "eve");
        scene.stage("staged", "eve", failed);
        scene.accepted(scene.broker.activationFailed("e", failed.activationId(), "x", scene.now));
        assertEquals(
                List.of(
                        new RouteStatus.WorkerStatus("a-draining", RouteState.DRAINING, 0, true, 0),
                        new RouteStatus.WorkerStatus("m-recovering", RouteState.RECOVERING, 1, false, 0),
                        new RouteStatus.WorkerStatus("z-ready", RouteState.READY, 1, true, 0)),
                scene.broker.workers());
    }

    /** Its place is kept, and requests pass it by: an operator who reads `ready` would look in the wrong place. */
    @Test
    void aRouteWhoseWorkerIsOutOfReachIsNotCalledReady() {
        Scene scene = Scene.standard();
        StagedWorker worker = scene.readyRoute("a", "ann", "w");
        RouteStatus ready = scene.broker.routes().getFirst();
        assertEquals("ready", ready.word());
        assertEquals(OptionalLong.empty(), ready.until());
        scene.accepted(scene.broker.workerDisconnected(worker.permit(), scene.now));
        long lost = scene.now;
        scene.after(10_000);
        RouteStatus away = scene.broker.routes().getFirst();
        assertEquals("reconnecting", away.word());
        assertEquals(OptionalLong.of(lost + 30_000), away.until());
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        RouteStatus draining = scene.broker.routes().getFirst();
        assertEquals("draining", draining.word());
        assertEquals(OptionalLong.of(scene.now + 120_000), draining.until());
    }

    @Test
    void case27PermanentPassThroughAnswersTheSameWithoutReferences() {
        Scene scene = new Scene(BrokerSettings.of(true, false, 4));
        scene.register("a", "ann");
        assertEquals(new PassThrough(true, Reason.GLOBAL_PASS_THROUGH), scene.resolve("ann"));
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        assertEquals(new PassThrough(false, Reason.GLOBAL_PASS_THROUGH), scene.resolve("ann"));
    }

    @Test
    void case31ModesDuringAndAfterActivation() {
        Scene standard = Scene.standard();
        Scene strict = Scene.strict();
        LaunchGrant grant = standard.registerOwner("a", "ann");
        LaunchGrant strictGrant = strict.registerOwner("a", "ann");
        assertEquals(new PassThrough(true, Reason.ACTIVATING), standard.resolve("ann"));
        assertEquals(new Unavailable(Reason.ACTIVATING), strict.resolve("ann"));
        standard.ready("w", "ann", grant);
        strict.ready("w", "ann", strictGrant);
        assertEquals("w", standard.lease("ann").workerId());
        assertEquals("w", strict.lease("ann").workerId());
    }

    @Test
    void case43BoundTokenWithAllSessionsGone() {
        for (Scene scene : List.of(Scene.standard(), Scene.strict())) {
            scene.readyRoute("a", "ann", "w");
            scene.accepted(scene.broker.releaseMcp("a", scene.now));
        }
        Scene standard = Scene.standard();
        standard.readyRoute("a", "ann", "w");
        standard.accepted(standard.broker.releaseMcp("a", standard.now));
        assertEquals(new PassThrough(false, Reason.NO_SESSION), standard.resolve("ann"));
        assertEquals(new PassThrough(false, Reason.UNBOUND), standard.resolve("nobody"));
        Scene strict = Scene.strict();
        strict.readyRoute("a", "ann", "w");
        strict.accepted(strict.broker.releaseMcp("a", strict.now));
        assertEquals(new Unavailable(Reason.NO_SESSION), strict.resolve("ann"));
        assertEquals(new Unavailable(Reason.UNBOUND), strict.resolve("nobody"));
    }

    @Test
    void requestDuringControlLossOfTheSessionStillReachesTheWorker() {
        Scene scene = Scene.standard();
        scene.readyRoute("a", "ann", "w");
        scene.accepted(scene.broker.mcpDisconnected("a", scene.now));
        assertTrue(scene.resolve("ann") instanceof WorkerLease);
    }
}
