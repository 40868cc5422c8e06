package org.nemorelay.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.control.CancelOutcome;

class RecoveryTest {
    private static final Generation SAVED = new Generation("saved", Optional.of("launch-0"));

    private static Scene restarted() {
        Scene scene = Scene.standard();
        scene.broker.restore(Scene.user("ann"), SAVED, scene.now + 30_000);
        return scene;
    }

    @Test
    void case18And93WaitsForTheOldWorkerThenIsNominated() {
        Scene scene = restarted();
        assertEquals(new Directive.WaitForWorker(100), scene.register("a", "ann"));
        scene.after(29_999);
        assertTrue(scene.seen(Transition.LaunchNominated.class).isEmpty());
        scene.after(1);
        assertEquals(
                List.of(new Transition.RecoveryExpired(Scene.user("ann"), "saved", Optional.empty())),
                scene.seen(Transition.RecoveryExpired.class));
        scene.lastLaunch("a");
        assertEquals(Refusal.GENERATION_REVOKED, scene.refused(scene.tryRecover("w", "ann", "saved")));
    }

    @Test
    void case33And87RecoveredWorkerServesAfterItsProbeOnly() {
        Scene scene = restarted();
        scene.register("a", "ann");
        StagedWorker staged = scene.accepted(scene.tryRecover("w", "ann", "saved"));
        assertEquals(new Resolution.PassThrough(true, Resolution.Reason.RECOVERING), scene.resolve("ann"));
        assertEquals(
                List.of(new RouteStatus.WorkerStatus("w", RouteState.RECOVERING, 1, false, 0)), scene.broker.workers());
        assertEquals(Optional.empty(), scene.accepted(scene.broker.publishable(staged.permit())));
        scene.publish(staged.permit());
        assertEquals(
                new Directive.ReuseWorker("http://127.0.0.1:4000"),
                scene.lastTold("a").orElseThrow());
        assertEquals("saved", scene.lease("ann").generationId());
    }

    @Test
    void case20RecoveredWorkerKeepsItsLaunchIdForCancel() {
        Scene scene = restarted();
        scene.register("a", "ann");
        scene.publish(scene.accepted(scene.tryRecover("w", "ann", "saved")).permit());
        assertEquals(
                CancelOutcome.PUBLISHED, scene.accepted(scene.broker.cancelActivation("a", "launch-0", scene.now)));
    }

    @Test
    void case21RecoveryNeedsAReferenceAndAKnownRoute() {
        Scene scene = restarted();
        assertEquals(Refusal.NO_REFERENCES, scene.refused(scene.tryRecover("w", "ann", "saved")));
        assertEquals(Refusal.UNKNOWN_ROUTE, scene.refused(scene.tryRecover("w", "bob", "saved")));
        scene.register("a", "ann");
        assertEquals(Refusal.GENERATION_REVOKED, scene.refused(scene.tryRecover("w", "ann", "forged")));
    }

    @Test
    void launchStaysDeferredWhileSessionsComeAndGo() {
        Scene scene = restarted();
        scene.register("a", "ann");
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        assertEquals(new Directive.WaitForWorker(100), scene.register("b", "ann"));
        scene.accepted(scene.broker.releaseMcp("b", scene.now));
        scene.after(30_000);
        assertEquals(RouteState.EMPTY, scene.state("ann"));
    }

    @Test
    void aRouteWhoseLastSessionGoesAfterTheDeadlineIsEmpty() {
        Scene scene = restarted();
        scene.register("a", "ann");
        scene.after(20_000);
        scene.accepted(scene.broker.mcpDisconnected("a", scene.now));
        scene.after(20_000);
        assertEquals(RouteState.RECOVERING, scene.state("ann"));
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        assertEquals(RouteState.EMPTY, scene.state("ann"));
    }

    @Test
    void case26PermitFromBeforeAnotherRegistrationIsRefused() {
        Scene scene = Scene.standard();
        StagedWorker first = scene.readyRoute("a", "ann", "w");
        scene.accepted(scene.broker.workerDisconnected(first.permit(), scene.now));
        StagedWorker second = scene.accepted(scene.tryRecover("w", "ann", first.generationId()));
        assertEquals(Refusal.SUPERSEDED, scene.refused(scene.broker.publish(first.permit(), scene.now)));
        scene.after(30_000);
        assertEquals(Refusal.SUPERSEDED, scene.refused(scene.broker.publish(second.permit(), scene.now)));
        scene.ready("w2", "ann", scene.lastLaunch("a"));
        assertEquals(Refusal.SUPERSEDED, scene.refused(scene.broker.publish(second.permit(), scene.now)));
    }

    @Test
    void recoveredWithinItsGraceServesUnderANewDataToken() {
        Scene scene = Scene.standard();
        StagedWorker first = scene.readyRoute("a", "ann", "w");
        WorkerLease before = scene.lease("ann");
        scene.accepted(scene.broker.workerDisconnected(first.permit(), scene.now));
        assertEquals(new Resolution.PassThrough(true, Resolution.Reason.CONTROL_UNAVAILABLE), scene.resolve("ann"));
        StagedWorker second = scene.accepted(scene.tryRecover("w", "ann", first.generationId()));
        assertNotEquals(first.dataToken(), second.dataToken());
        scene.publish(second.permit());
        assertEquals(second.dataToken(), scene.lease("ann").dataToken());
        assertEquals(first.dataToken(), before.dataToken(), "a request keeps what it began with");
        scene.accepted(scene.broker.workerFailed(before, scene.now));
        assertEquals("w", scene.lease("ann").workerId(), "a failure from before the recovery changes nothing");
    }

    @Test
    void case69FailedProbeOfAPublishedWorkerKeepsItsGrace() {
        Scene scene = Scene.standard();
        StagedWorker first = scene.readyRoute("a", "ann", "w");
        scene.accepted(scene.broker.workerDisconnected(first.permit(), scene.now));
        scene.after(10_000);
        StagedWorker second = scene.accepted(scene.tryRecover("w", "ann", first.generationId()));
        scene.accepted(scene.broker.probeFailed(second.permit(), scene.now));
        assertEquals(RouteState.READY, scene.state("ann"));
        scene.after(19_999);
        assertEquals(RouteState.READY, scene.state("ann"));
        scene.after(1);
        assertEquals(
                List.of(new Transition.WorkerLost(Scene.user("ann"), "w", first.generationId())),
                scene.seen(Transition.WorkerLost.class));
    }

    @Test
    void case81LateProbeFailureLeavesANewerRegistrationAlone() {
        Scene scene = Scene.standard();
        StagedWorker worker = scene.readyRoute("m", "ann", "w");
        scene.accepted(scene.broker.workerDisconnected(worker.permit(), scene.now));
        StagedWorker first = scene.accepted(scene.tryRecover("w", "ann", worker.generationId()));
        StagedWorker second = scene.accepted(scene.tryRecover("w", "ann", worker.generationId()));
        scene.publish(second.permit());
        assertEquals(Refusal.SUPERSEDED, scene.refused(scene.broker.probeFailed(first.permit(), scene.now)));
        assertEquals(RouteState.READY, scene.state("ann"));
        scene.lease("ann").release();
    }

    @Test
    void case80InvalidRecoveryEndpointRevokesTheGeneration() {
        Scene scene = restarted();
        scene.register("a", "ann");
        WorkerRegistration bad =
                new WorkerRegistration(Scene.user("ann"), "w", "http://remote.example:80", Optional.empty(), true);
        assertEquals(
                Refusal.ENDPOINT_NOT_GRANTED,
                scene.refused(scene.broker.recoverWorker(bad, "saved", "data", scene.now)));
        assertEquals(1, scene.seen(Transition.RecoveryExpired.class).size());
        assertEquals(RouteState.PASS_THROUGH, scene.state("ann"));
        scene.after(1_000);
        scene.lastLaunch("a");
    }

    @Test
    void lastReleaseDrainsARecoveringWorker() {
        Scene scene = restarted();
        scene.register("a", "ann");
        scene.accepted(scene.tryRecover("w", "ann", "saved"));
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        assertEquals(RouteState.DRAINING, scene.state("ann"));
    }

    private static Scene restartedWhileDraining() {
        Scene scene = Scene.standard();
        scene.seen.addAll(scene.broker.restoreDraining(
                Scene.user("ann"), "saved", "w", "http://127.0.0.1:4000", scene.now + 90_000));
        return scene;
    }

    @Test
    void aDrainOutlivesTheDaemonAndItsWorkerIsToldAgain() {
        Scene scene = restartedWhileDraining();
        assertEquals(new Directive.WaitForWorker(100), scene.register("a", "ann"));
        assertEquals(
                List.of(new RouteStatus.WorkerStatus("w", RouteState.DRAINING, 1, false, 0)), scene.broker.workers());
        StagedWorker back = scene.accepted(scene.tryRecover("w", "ann", "saved"));
        assertEquals(Optional.of(91_000L), back.drainDeadlineMs());
        assertEquals(Refusal.DRAINING, scene.refused(scene.broker.publish(back.permit(), scene.now)));
        scene.accepted(scene.broker.drainAcknowledged("w", scene.now));
        assertTrue(scene.seen(Transition.LaunchNominated.class).isEmpty());
        scene.accepted(scene.broker.workerDisconnected(back.permit(), scene.now));
        scene.advance();
        scene.lastLaunch("a");
        assertEquals(
                "saved", scene.seen(Transition.WorkerRemoved.class).getLast().generationId());
    }

    @Test
    void aDrainOfAnEarlierDaemonIsWaitedForToItsDeadline() {
        Scene scene = restartedWhileDraining();
        scene.register("a", "ann");
        assertEquals(Refusal.GENERATION_REVOKED, scene.refused(scene.tryRecover("other", "ann", "saved")));
        scene.after(89_999);
        assertTrue(scene.seen(Transition.LaunchNominated.class).isEmpty());
        scene.after(1);
        scene.lastLaunch("a");
    }

    @Test
    void theEndOfADrainingProcessIsAnExitOnceItsConnectionIsGone() {
        Scene scene = restartedWhileDraining();
        scene.register("a", "ann");
        StagedWorker back = scene.accepted(scene.tryRecover("w", "ann", "saved"));
        assertEquals(Refusal.WRONG_STATE, scene.refused(scene.broker.workerEnded("w", scene.now)), "it is connected");
        scene.accepted(scene.broker.workerDisconnected(back.permit(), scene.now));
        assertEquals(RouteState.DRAINING, scene.state("ann"), "a cut link is no exit");
        scene.accepted(scene.broker.workerEnded("w", scene.now));
        scene.advance();
        scene.lastLaunch("a");
        assertEquals(Refusal.WRONG_STATE, scene.refused(scene.broker.workerEnded("w", scene.now)));
    }

    @Test
    void globalPassThroughVoidsSavedDrains() {
        Scene scene = new Scene(BrokerSettings.of(true, false, 4));
        assertEquals(
                List.of(new Transition.RecoveryExpired(Scene.user("ann"), "saved", Optional.empty())),
                scene.broker.restoreDraining(Scene.user("ann"), "saved", "w", "http://127.0.0.1:4000", 30_000));
        assertTrue(scene.broker.routes().isEmpty());
    }

    @Test
    void globalPassThroughVoidsSavedGenerations() {
        Scene scene = new Scene(BrokerSettings.of(true, false, 4));
        assertEquals(
                List.of(new Transition.RecoveryExpired(Scene.user("ann"), "saved", Optional.empty())),
                scene.broker.restore(Scene.user("ann"), SAVED, 30_000));
    }
}
