package org.nemorelay.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.LaunchGrant;
import org.nemorelay.protocol.control.CancelOutcome;

class ActivationTest {
    private static final String FAILED = "worker_exited_before_ready";

    @Test
    void case12FailedActivationIsSharedPassThroughUntilTheLastLeaves() {
        Scene scene = Scene.standard();
        LaunchGrant grant = scene.registerOwner("a", "ann");
        scene.register("b", "ann");
        scene.accepted(scene.broker.activationFailed("a", grant.activationId(), FAILED, scene.now));
        assertEquals(new Directive.UsePassThrough(), scene.lastTold("a").orElseThrow());
        assertEquals(new Directive.UsePassThrough(), scene.lastTold("b").orElseThrow());
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        assertEquals(RouteState.PASS_THROUGH, scene.state("ann"));
        scene.accepted(scene.broker.releaseMcp("b", scene.now));
        assertEquals(RouteState.EMPTY, scene.state("ann"));
        scene.registerOwner("c", "ann");
    }

    @Test
    void case13TransientPassThroughDoesNotLaunchForNewSessions() {
        Scene scene = Scene.standard();
        LaunchGrant grant = scene.registerOwner("a", "ann");
        scene.accepted(scene.broker.activationFailed("a", grant.activationId(), FAILED, scene.now));
        assertEquals(new Directive.UsePassThrough(), scene.register("b", "ann"));
    }

    @Test
    void backOffDoublesToSixtySecondsAndResetsOnSuccess() {
        Scene scene = Scene.standard();
        LaunchGrant grant = scene.registerOwner("a", "ann");
        for (long seconds : List.of(1L, 2L, 4L, 8L, 16L, 32L, 60L, 60L)) {
            scene.accepted(scene.broker.activationFailed("a", grant.activationId(), FAILED, scene.now));
            assertEquals(
                    seconds * 1_000,
                    scene.seen(Transition.ActivationFailed.class).getLast().retryAfterMs());
            scene.after(seconds * 1_000 - 1);
            assertEquals(RouteState.PASS_THROUGH, scene.state("ann"));
            scene.after(1);
            LaunchGrant next = scene.lastLaunch("a");
            assertNotEquals(grant.activationId(), next.activationId());
            grant = next;
        }
        scene.ready("w", "ann", grant);
        scene.after(1);
        assertEquals(RouteState.READY, scene.state("ann"));
        scene.accepted(scene.broker.workerFailed(scene.lease("ann"), scene.now));
        scene.after(30_000);
        scene.accepted(scene.broker.activationFailed("a", scene.lastLaunch("a").activationId(), FAILED, scene.now));
        assertEquals(
                1_000, scene.seen(Transition.ActivationFailed.class).getLast().retryAfterMs());
    }

    @Test
    void case14GlobalPassThroughNeverActivates() {
        Scene scene = new Scene(BrokerSettings.of(true, false, 4));
        assertEquals(new Directive.UsePassThrough(), scene.register("a", "ann"));
        scene.after(1_000_000);
        assertEquals(
                Refusal.GRANT_INVALID,
                scene.refused(scene.tryStage(
                        "w",
                        "ann",
                        "http://127.0.0.1:1",
                        new LaunchGrant("x", "y", -1, "127.0.0.1", 0, Optional.empty()))));
        assertEquals(Refusal.WRONG_STATE, scene.refused(scene.tryRecover("w", "ann", "g")));
        assertTrue(scene.seen(Transition.LaunchNominated.class).isEmpty());
        assertEquals(
                new Resolution.PassThrough(false, Resolution.Reason.GLOBAL_PASS_THROUGH),
                scene.broker.resolve(Scene.token("whatever")));
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        assertEquals(RouteState.PASS_THROUGH, scene.state("ann"));
    }

    @Test
    void case15CrashNominatesTheFirstConnectedSession() {
        Scene scene = Scene.standard();
        StagedWorker worker = scene.readyRoute("b", "ann", "w");
        scene.register("c", "ann");
        scene.register("a", "ann");
        scene.accepted(scene.broker.mcpDisconnected("a", scene.now + 20_000));
        scene.accepted(scene.broker.workerDisconnected(worker.permit(), scene.now));
        scene.after(29_999);
        assertEquals(RouteState.READY, scene.state("ann"));
        scene.after(1);
        assertEquals("b", scene.seen(Transition.LaunchNominated.class).getLast().sessionId());
        assertEquals(new Directive.WaitForWorker(100), scene.lastTold("c").orElseThrow());
        LaunchGrant grant = scene.lastLaunch("b");
        assertEquals(
                Refusal.NOT_LAUNCH_OWNER,
                scene.refused(scene.broker.activationFailed("c", grant.activationId(), FAILED, scene.now)));
        assertEquals(
                Refusal.NOT_LAUNCH_OWNER,
                scene.refused(scene.broker.cancelActivation("c", grant.activationId(), scene.now)));
    }

    @Test
    void case16LostOwnersGrantIsNeverReused() {
        Scene scene = Scene.standard();
        LaunchGrant first = scene.registerOwner("a", "ann");
        scene.register("b", "ann");
        scene.accepted(scene.broker.mcpDisconnected("a", scene.now));
        assertEquals(1, scene.seen(Transition.ActivationCancelled.class).size());
        scene.advance();
        LaunchGrant second = scene.lastLaunch("b");
        assertNotEquals(first.activationId(), second.activationId());
        assertNotEquals(first.activationToken(), second.activationToken());
        assertEquals(Refusal.GRANT_INVALID, scene.refused(scene.tryStage("w", "ann", "http://127.0.0.1:1", first)));
    }

    @Test
    void case32DisconnectedSessionIsNeverALaunchCandidate() {
        Scene scene = Scene.standard();
        LaunchGrant first = scene.registerOwner("a", "ann");
        scene.register("b", "ann");
        scene.accepted(scene.broker.mcpDisconnected("b", scene.now));
        scene.accepted(scene.broker.mcpDisconnected("a", scene.now));
        scene.advance();
        assertEquals(RouteState.PASS_THROUGH, scene.state("ann"));
        LaunchGrant second = scene.registerOwner("b", "ann");
        assertNotEquals(first.activationId(), second.activationId());
    }

    @Test
    void ownersReleaseHandsOffAndReleasesTheStagedWorker() {
        Scene scene = Scene.standard();
        StagedWorker staged = scene.stage("w", "ann", scene.registerOwner("a", "ann"));
        scene.register("b", "ann");
        scene.accepted(scene.broker.releaseMcp("a", scene.now));
        assertEquals(
                Optional.of("w"),
                scene.seen(Transition.ActivationCancelled.class).getLast().stagedWorkerId());
        scene.advance();
        scene.ready("w2", "ann", scene.lastLaunch("b"));
        assertEquals(Refusal.SUPERSEDED, scene.refused(scene.broker.publish(staged.permit(), scene.now)));
        assertEquals("w2", scene.lease("ann").workerId());
    }

    @Test
    void case30StartupHasNoDeadlineAndIsReportedEveryMinute() {
        Scene scene = Scene.standard();
        LaunchGrant grant = scene.registerOwner("a", "ann");
        for (int i = 0; i < 120; i++) {
            scene.after(1_000);
        }
        assertEquals(
                List.of(60_000L, 120_000L),
                scene.seen(Transition.StartupPending.class).stream()
                        .map(Transition.StartupPending::elapsedMs)
                        .toList());
        scene.ready("w", "ann", grant);
        assertEquals(
                Optional.of(120_000L),
                scene.seen(Transition.WorkerPublished.class).getLast().startupElapsedMs());
    }

    @Test
    void cancelAnswersWhatBecameOfTheLaunch() {
        Scene scene = Scene.standard();
        LaunchGrant first = scene.registerOwner("a", "ann");
        assertEquals(
                CancelOutcome.CANCELLED,
                scene.accepted(scene.broker.cancelActivation("a", first.activationId(), scene.now)));
        assertEquals(
                CancelOutcome.SUPERSEDED,
                scene.accepted(scene.broker.cancelActivation("a", first.activationId(), scene.now)));
        scene.advance();
        LaunchGrant second = scene.lastLaunch("a");
        scene.ready("w", "ann", second);
        assertEquals(
                CancelOutcome.PUBLISHED,
                scene.accepted(scene.broker.cancelActivation("a", second.activationId(), scene.now)));
        assertEquals(RouteState.READY, scene.state("ann"));
    }

    /** A client that slept through the five minutes of the memory must not end the worker that serves. */
    @Test
    void aPublishedLaunchIsRememberedForAsLongAsItsWorkerServes() {
        Scene scene = Scene.standard();
        LaunchGrant grant = scene.registerOwner("a", "ann");
        StagedWorker worker = scene.ready("w", "ann", grant);
        scene.now += 300_000;
        assertEquals(
                CancelOutcome.PUBLISHED,
                scene.accepted(scene.broker.cancelActivation("a", grant.activationId(), scene.now)));
        scene.accepted(scene.broker.workerDisconnected(worker.permit(), scene.now));
        scene.after(30_000);
        assertNotEquals(RouteState.READY, scene.state("ann"));
        assertEquals(
                CancelOutcome.SUPERSEDED,
                scene.accepted(scene.broker.cancelActivation("a", grant.activationId(), scene.now)));
    }

    /** For five minutes, and of no more than 32, although other workers serve since. */
    @Test
    void launchesThatWerePublishedAreRemembered() {
        Scene scene = Scene.standard();
        List<String> launches = new ArrayList<>();
        LaunchGrant grant = scene.registerOwner("a", "ann");
        for (int i = 1; i <= 34; i++) {
            launches.add(grant.activationId());
            StagedWorker worker = scene.ready("w" + i, "ann", grant);
            scene.accepted(scene.broker.releaseMcp("a", scene.now));
            scene.accepted(scene.broker.drainAcknowledged("w" + i, scene.now));
            scene.accepted(scene.broker.workerDisconnected(worker.permit(), scene.now));
            grant = scene.registerOwner("a", "ann");
        }
        assertEquals(CancelOutcome.SUPERSEDED, cancel(scene, launches.getFirst()));
        assertEquals(CancelOutcome.PUBLISHED, cancel(scene, launches.get(2)));
        scene.now += 299_999;
        assertEquals(CancelOutcome.PUBLISHED, cancel(scene, launches.getLast()));
        scene.now += 1;
        assertEquals(CancelOutcome.SUPERSEDED, cancel(scene, launches.getLast()));
    }

    private static CancelOutcome cancel(Scene scene, String activationId) {
        return scene.accepted(scene.broker.cancelActivation("a", activationId, scene.now));
    }

    @Test
    void aWorkerThatWasStagedIsForgottenWithItsLaunch() {
        Scene scene = Scene.standard();
        LaunchGrant first = scene.registerOwner("a", "ann");
        scene.stage("w", "ann", first);
        cancel(scene, first.activationId());
        scene.advance();
        LaunchGrant second = scene.lastLaunch("a");
        scene.stage("w", "ann", second);
        scene.accepted(scene.broker.activationFailed("a", second.activationId(), FAILED, scene.now));
        scene.after(2_000);
        scene.ready("w", "ann", scene.lastLaunch("a"));
    }

    @Test
    void readyAgainOnOneRegistrationChangesNothing() {
        Scene scene = Scene.standard();
        StagedWorker worker = scene.readyRoute("a", "ann", "w");
        assertEquals(List.of(), scene.broker.publish(worker.permit(), scene.now).transitions());
    }

    /** Nobody was there to start another when its grace was over. */
    @Test
    void aRouteThatLostItsWorkerIsEmptyWhenItsLastSessionHasGoneToo() {
        Scene scene = Scene.standard();
        StagedWorker worker = scene.readyRoute("a", "ann", "w");
        scene.accepted(scene.broker.workerDisconnected(worker.permit(), scene.now));
        scene.now += 10_000;
        scene.accepted(scene.broker.mcpDisconnected("a", scene.now));
        scene.after(20_000);
        assertEquals(RouteState.RECOVERING, scene.state("ann"));
        scene.after(10_000);
        assertEquals(RouteState.EMPTY, scene.state("ann"));
    }

    @Test
    void failureOfAnOldLaunchIsANoOp() {
        Scene scene = Scene.standard();
        LaunchGrant first = scene.registerOwner("a", "ann");
        scene.accepted(scene.broker.cancelActivation("a", first.activationId(), scene.now));
        scene.advance();
        scene.accepted(scene.broker.activationFailed("a", first.activationId(), FAILED, scene.now));
        assertEquals(RouteState.ACTIVATING, scene.state("ann"));
    }

    @Test
    void case70GrantIsSingleUseAndReplaysForTheSameWorker() {
        Scene scene = Scene.standard();
        LaunchGrant grant = scene.registerOwner("a", "ann");
        LaunchGrant guessed =
                new LaunchGrant(grant.activationId(), "guessed", -1, grant.bindIp(), grant.port(), Optional.empty());
        assertEquals(
                Refusal.GRANT_INVALID, scene.refused(scene.tryStage("w", "ann", "http://127.0.0.1:4000", guessed)));
        assertEquals(Refusal.GRANT_INVALID, scene.refused(scene.tryStage("w", "bob", "http://127.0.0.1:4000", grant)));
        StagedWorker first = scene.stage("w", "ann", grant);
        assertEquals(
                Refusal.GRANT_INVALID, scene.refused(scene.tryStage("thief", "ann", "http://127.0.0.1:4000", grant)));
        StagedWorker again = scene.stage("w", "ann", grant);
        assertEquals(first.dataToken(), again.dataToken());
        assertEquals(first.generationId(), again.generationId());
        assertEquals(Refusal.SUPERSEDED, scene.refused(scene.broker.publish(first.permit(), scene.now)));
        scene.publish(again.permit());
    }

    @Test
    void endpointAgainstTheGrantFailsTheLaunch() {
        Scene scene = Scene.standard();
        LaunchGrant grant = scene.registerOwner("a", "ann");
        assertEquals(
                Refusal.ENDPOINT_NOT_GRANTED,
                scene.refused(scene.tryStage("w", "ann", "http://127.0.0.2:4000", grant)));
        assertEquals(RouteState.PASS_THROUGH, scene.state("ann"));
    }

    @Test
    void case73FailedProbeBeforePublicationFailsTheLaunch() {
        Scene scene = Scene.standard();
        StagedWorker staged = scene.stage("w", "ann", scene.registerOwner("a", "ann"));
        scene.accepted(scene.broker.probeFailed(staged.permit(), scene.now));
        assertEquals(
                Optional.of("w"),
                scene.seen(Transition.ActivationFailed.class).getLast().stagedWorkerId());
        assertEquals(Refusal.SUPERSEDED, scene.refused(scene.broker.publish(staged.permit(), scene.now)));
    }

    @Test
    void case74WorkerIdInUseIsRefused() {
        Scene scene = Scene.standard();
        scene.stage("w", "ann", scene.registerOwner("a", "ann"));
        LaunchGrant other = scene.registerOwner("b", "bob");
        assertEquals(
                Refusal.WORKER_ID_TAKEN, scene.refused(scene.tryStage("w", "bob", "http://127.0.0.1:4001", other)));
    }

    /** Its place is that of its launch: one for each route, so there are as many as there may be routes. */
    @Test
    void case74ARouteHasOneStagedWorker() {
        Scene scene = Scene.standard();
        LaunchGrant grant = scene.registerOwner("a", "ann");
        scene.stage("w1", "ann", grant);
        assertEquals(Refusal.GRANT_INVALID, scene.refused(scene.tryStage("w2", "ann", "http://127.0.0.1:4001", grant)));
        assertEquals(
                List.of("w1"), scene.broker.tables.workers.keySet().stream().toList());
    }

    @Test
    void case74AStagedWorkerGoesWithItsLaunch() {
        Scene scene = Scene.standard();
        LaunchGrant cancelled = scene.registerOwner("a", "ann");
        scene.stage("w", "ann", cancelled);
        scene.accepted(scene.broker.cancelActivation("a", cancelled.activationId(), scene.now));
        assertEquals(Map.of(), scene.broker.tables.workers);
        LaunchGrant failed = scene.registerOwner("b", "bob");
        scene.stage("w", "bob", failed);
        scene.accepted(scene.broker.activationFailed("b", failed.activationId(), "failed", scene.now));
        assertEquals(Map.of(), scene.broker.tables.workers);
        scene.stage("w", "eve", scene.registerOwner("e", "eve"));
    }

    @Test
    void generationIsWrittenBeforePublication() {
        Scene scene = Scene.standard();
        StagedWorker staged = scene.stage("w", "ann", scene.registerOwner("a", "ann"));
        Optional<Generation> needed = scene.accepted(scene.broker.publishable(staged.permit()));
        assertEquals(staged.generationId(), needed.orElseThrow().generationId());
        assertInstanceOf(Resolution.PassThrough.class, scene.resolve("ann"));
        scene.publish(staged.permit());
        assertEquals(Optional.empty(), scene.accepted(scene.broker.publishable(staged.permit())));
    }
}
