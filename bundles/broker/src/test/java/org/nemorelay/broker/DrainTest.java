package org.nemorelay.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.nemorelay.broker.Transition.WorkerRemoved;
import org.nemorelay.protocol.Directive;

class DrainTest {
    private final Scene scene = Scene.standard();
    private final StagedWorker worker = scene.readyRoute("a", "ann", "w");

    private void release(String session) {
        scene.accepted(scene.broker.releaseMcp(session, scene.now));
    }

    private void acknowledge() {
        scene.accepted(scene.broker.drainAcknowledged("w", scene.now));
    }

    private void disconnect() {
        scene.accepted(scene.broker.workerDisconnected(worker.permit(), scene.now));
    }

    @Test
    void lastReleaseBeginsADrainOfTwoMinutes() {
        scene.register("b", "ann");
        release("a");
        assertEquals(RouteState.READY, scene.state("ann"));
        WorkerLease lease = scene.lease("ann");
        release("b");
        Transition.DrainBegan drain = scene.seen(Transition.DrainBegan.class).getLast();
        assertEquals(scene.now + 120_000, drain.deadlineMs());
        assertEquals(1, drain.inFlight());
        assertTrue(lease.release());
    }

    @Test
    void case09DrainingIsNeverRevived() {
        release("a");
        assertEquals(new Directive.WaitForWorker(100), scene.register("b", "ann"));
        release("b");
        assertEquals(new Directive.WaitForWorker(100), scene.register("c", "ann"));
        assertEquals(RouteState.DRAINING, scene.state("ann"));
        assertEquals(new Resolution.PassThrough(true, Resolution.Reason.DRAINING), scene.resolve("ann"));
        assertEquals(Refusal.DRAINING, scene.refused(scene.broker.publish(worker.permit(), scene.now)));
    }

    @Test
    void case10RouteIsEmptyWhenTheOldWorkerHasExited() {
        WorkerLease lease = scene.lease("ann");
        release("a");
        acknowledge();
        scene.after(5_000);
        assertEquals(RouteState.DRAINING, scene.state("ann"));
        assertTrue(lease.release());
        scene.accepted(scene.broker.drainProgress("w", scene.now));
        assertEquals(RouteState.DRAINING, scene.state("ann"), "its control connection is still open");
        disconnect();
        assertEquals(RouteState.EMPTY, scene.state("ann"));
        WorkerRemoved removed = scene.seen(WorkerRemoved.class).getLast();
        assertEquals(WorkerRemoved.Reason.DRAINED, removed.reason());
        assertEquals(worker.generationId(), removed.generationId());
    }

    @Test
    void cutLinkToADrainingWorkerIsNoExit() {
        WorkerLease lease = scene.lease("ann");
        release("a");
        acknowledge();
        disconnect();
        assertEquals(RouteState.DRAINING, scene.state("ann"), "a request is in flight");
        StagedWorker back = scene.accepted(scene.tryRecover("w", "ann", worker.generationId()));
        assertTrue(back.drainDeadlineMs().isPresent(), "the drain is sent again");
        lease.release();
        scene.accepted(scene.broker.drainProgress("w", scene.now));
        acknowledge();
        assertEquals(RouteState.DRAINING, scene.state("ann"));
        scene.accepted(scene.broker.workerDisconnected(worker.permit(), scene.now));
        assertEquals(RouteState.DRAINING, scene.state("ann"), "that socket was replaced");
        scene.accepted(scene.broker.workerDisconnected(back.permit(), scene.now));
        assertEquals(RouteState.EMPTY, scene.state("ann"));
    }

    @Test
    void aConnectionThatTheDaemonGaveUpIsNoExit() {
        release("a");
        acknowledge();
        scene.accepted(scene.broker.workerCut(worker.permit(), scene.now));
        assertEquals(RouteState.DRAINING, scene.state("ann"));
        scene.after(119_999);
        assertEquals(RouteState.DRAINING, scene.state("ann"));
        scene.after(1);
        assertEquals(RouteState.EMPTY, scene.state("ann"));
    }

    @Test
    void aWorkerThatMayCloseWithoutAnAcknowledgementHasExitedWhenItsConnectionIsClosed() {
        Scene stock = Scene.standard();
        stock.acknowledgesDrain = false;
        StagedWorker drained = stock.ready("w", "ann", stock.registerOwner("a", "ann"));
        stock.accepted(stock.broker.releaseMcp("a", stock.now));
        assertEquals(RouteState.DRAINING, stock.state("ann"));
        stock.accepted(stock.broker.workerDisconnected(drained.permit(), stock.now));
        assertEquals(RouteState.EMPTY, stock.state("ann"));
    }

    @Test
    void suchAWorkerThatCameBackHasHeardOfTheDrain() {
        Scene stock = Scene.standard();
        stock.acknowledgesDrain = false;
        StagedWorker lost = stock.ready("w", "ann", stock.registerOwner("a", "ann"));
        stock.accepted(stock.broker.workerDisconnected(lost.permit(), stock.now));
        stock.accepted(stock.broker.releaseMcp("a", stock.now));
        StagedWorker back = stock.accepted(stock.tryRecover("w", "ann", lost.generationId()));
        stock.accepted(stock.broker.workerDisconnected(back.permit(), stock.now));
        assertEquals(RouteState.EMPTY, stock.state("ann"));
    }

    @Test
    void aWorkerThatComesBackAfterItsEndWasSeenHasNotEnded() {
        WorkerLease lease = scene.lease("ann");
        disconnect();
        release("a");
        scene.accepted(scene.broker.workerEnded("w", scene.now));
        StagedWorker back = scene.accepted(scene.tryRecover("w", "ann", worker.generationId()));
        lease.release();
        scene.accepted(scene.broker.drainProgress("w", scene.now));
        scene.accepted(scene.broker.workerDisconnected(back.permit(), scene.now));
        assertEquals(RouteState.DRAINING, scene.state("ann"));
    }

    @Test
    void suchAWorkerThatNeverHeardOfTheDrainHasNotExited() {
        Scene stock = Scene.standard();
        stock.acknowledgesDrain = false;
        StagedWorker lost = stock.ready("w", "ann", stock.registerOwner("a", "ann"));
        stock.accepted(stock.broker.workerDisconnected(lost.permit(), stock.now));
        stock.accepted(stock.broker.releaseMcp("a", stock.now));
        stock.after(1_000);
        assertEquals(RouteState.DRAINING, stock.state("ann"));
    }

    @Test
    void unacknowledgedDrainLastsToItsDeadline() {
        release("a");
        disconnect();
        scene.after(119_999);
        assertEquals(RouteState.DRAINING, scene.state("ann"));
        scene.after(1);
        assertEquals(RouteState.EMPTY, scene.state("ann"));
        assertEquals(
                WorkerRemoved.Reason.DRAIN_DEADLINE_REACHED,
                scene.seen(WorkerRemoved.class).getLast().reason());
    }

    /** It died, and its last session left before its grace was over: it never heard of the drain. */
    @Test
    void aWorkerThatDiedBeforeItsDrainHasExitedWhenItsEndWasSeenAndItsRequestsHaveEnded() {
        WorkerLease lease = scene.lease("ann");
        disconnect();
        release("a");
        scene.accepted(scene.broker.workerEnded("w", scene.now));
        assertEquals(RouteState.DRAINING, scene.state("ann"), "a request is in flight");
        assertTrue(lease.release());
        scene.accepted(scene.broker.drainProgress("w", scene.now));
        assertEquals(RouteState.EMPTY, scene.state("ann"));
    }

    @Test
    void anEndThatWasSeenDoesNotCountForAWorkerThatIsNotDraining() {
        disconnect();
        assertEquals(Refusal.WRONG_STATE, scene.refused(scene.broker.workerEnded("w", scene.now)));
        assertEquals(RouteState.READY, scene.state("ann"), "a published worker keeps its grace");
    }

    private void leave() {
        scene.accepted(scene.broker.workerLeaves(worker.permit(), scene.now));
    }

    /** What crossed with its word is under way: it is let go when that has ended, and replaced when it has exited. */
    @Test
    void aWorkerThatLeavesIsLetGoWhenNothingIsUnderWayAndReplacedWhenItHasExited() {
        WorkerLease lease = scene.lease("ann");
        leave();
        Transition.DrainBegan drain = scene.seen(Transition.DrainBegan.class).getLast();
        assertEquals(Transition.DrainBegan.Cause.WORKER_LEAVES, drain.cause());
        assertEquals(scene.now + 120_000, drain.deadlineMs());
        assertEquals(new Resolution.PassThrough(true, Resolution.Reason.DRAINING), scene.resolve("ann"));
        assertEquals(new Directive.WaitForWorker(100), scene.lastTold("a").orElseThrow());
        leave();
        assertEquals(Refusal.DRAINING, scene.refused(scene.broker.publish(worker.permit(), scene.now)));
        assertTrue(scene.seen(Transition.LeaveGranted.class).isEmpty(), "a request is under way");
        assertTrue(lease.release());
        scene.accepted(scene.broker.drainProgress("w", scene.now));
        assertEquals(1, scene.seen(Transition.LeaveGranted.class).size());
        scene.after(5_000);
        assertEquals(RouteState.DRAINING, scene.state("ann"), "its control connection is still open");
        disconnect();
        scene.advance();
        assertEquals("a", scene.seen(Transition.LaunchNominated.class).getLast().sessionId());
        assertEquals(
                WorkerRemoved.Reason.DRAINED,
                scene.seen(WorkerRemoved.class).getLast().reason());
        assertEquals(1, scene.seen(Transition.DrainBegan.class).size());
        assertEquals(1, scene.seen(Transition.LeaveGranted.class).size());
    }

    @Test
    void aWorkerThatLeavesWithNothingUnderWayIsLetGoAtOnce() {
        leave();
        assertEquals("w", scene.seen(Transition.LeaveGranted.class).getLast().workerId());
        disconnect();
        scene.advance();
        assertEquals(RouteState.ACTIVATING, scene.state("ann"));
    }

    /** The last end may be hidden by a request that was turned away in that moment. */
    @Test
    void anEndThatNobodyToldOfIsLookedFor() {
        WorkerLease lease = scene.lease("ann");
        leave();
        lease.release();
        scene.after(1_000);
        assertEquals(1, scene.seen(Transition.LeaveGranted.class).size());
    }

    @Test
    void aConnectionThatTheDaemonGaveUpIsNoExitOfAWorkerThatLeaves() {
        leave();
        scene.accepted(scene.broker.workerCut(worker.permit(), scene.now));
        scene.after(119_999);
        assertEquals(RouteState.DRAINING, scene.state("ann"));
        scene.after(1);
        assertEquals(RouteState.ACTIVATING, scene.state("ann"));
        assertEquals(
                WorkerRemoved.Reason.DRAIN_DEADLINE_REACHED,
                scene.seen(WorkerRemoved.class).getLast().reason());
    }

    @Test
    void aWorkerThatLeavesUnderRequireWorkerLeavesItsRouteUnavailable() {
        Scene strict = Scene.strict();
        StagedWorker leaving = strict.readyRoute("a", "ann", "w");
        strict.accepted(strict.broker.workerLeaves(leaving.permit(), strict.now));
        assertEquals(new Resolution.Unavailable(Resolution.Reason.DRAINING), strict.resolve("ann"));
    }

    @Test
    void onlyAWorkerThatWasPublishedMayLeave() {
        Scene early = Scene.standard();
        StagedWorker staged = early.stage("w", "ann", early.registerOwner("a", "ann"));
        assertEquals(Refusal.WRONG_STATE, early.refused(early.broker.workerLeaves(staged.permit(), early.now)));
        assertEquals(RouteState.ACTIVATING, early.state("ann"));
    }

    @Test
    void aRegistrationThatWasReplacedDoesNotLeave() {
        disconnect();
        StagedWorker back = scene.accepted(scene.tryRecover("w", "ann", worker.generationId()));
        assertEquals(Refusal.SUPERSEDED, scene.refused(scene.broker.workerLeaves(worker.permit(), scene.now)));
        scene.publish(back.permit());
        assertEquals(RouteState.READY, scene.state("ann"));
    }

    @Test
    void case11EndOfDrainNominatesAWaitingSession() {
        release("a");
        scene.register("c", "ann");
        scene.register("b", "ann");
        acknowledge();
        disconnect();
        assertTrue(scene.seen(Transition.LaunchNominated.class).isEmpty());
        scene.advance();
        assertEquals("b", scene.seen(Transition.LaunchNominated.class).getLast().sessionId());
        scene.lastLaunch("b");
    }

    @Test
    void case17SeveralExpiringSessionsBeginOneDrain() {
        scene.register("b", "ann");
        scene.register("c", "ann");
        for (String session : new String[] {"a", "b", "c"}) {
            scene.accepted(scene.broker.mcpDisconnected(session, scene.now));
        }
        scene.after(29_999);
        assertEquals(RouteState.READY, scene.state("ann"));
        scene.after(1);
        assertEquals(1, scene.seen(Transition.DrainBegan.class).size());
        assertEquals(3, scene.seen(Transition.McpRemoved.class).size());
    }

    @Test
    void case85GraceIsMeasuredFromTheLastLoss() {
        scene.accepted(scene.broker.mcpDisconnected("a", scene.now));
        scene.after(20_000);
        scene.register("a", "ann");
        scene.after(20_000);
        assertEquals(RouteState.READY, scene.state("ann"));
        scene.accepted(scene.broker.mcpDisconnected("a", scene.now));
        scene.after(30_000);
        assertEquals(RouteState.DRAINING, scene.state("ann"));
    }

    @Test
    void case23FailedCommunicationTwiceIsHarmlessAndReleaseStillDrains() {
        WorkerLease lease = scene.lease("ann");
        scene.accepted(scene.broker.workerFailed(lease, scene.now));
        scene.accepted(scene.broker.workerFailed(lease, scene.now));
        assertEquals(1, scene.seen(Transition.CommunicationFailed.class).size());
        assertEquals(new Directive.WaitForWorker(100), scene.lastTold("a").orElseThrow());
        release("a");
        assertEquals(RouteState.DRAINING, scene.state("ann"));
        assertEquals(Refusal.DRAINING, scene.refused(scene.broker.workerFailed(lease, scene.now)));
    }

    @Test
    void case24OldWorkersFailureDoesNotHurtTheNewGeneration() {
        WorkerLease old = scene.lease("ann");
        disconnect();
        scene.after(30_000);
        scene.ready("w2", "ann", scene.lastLaunch("a"));
        assertEquals(Refusal.SUPERSEDED, scene.refused(scene.broker.workerFailed(old, scene.now)));
        assertEquals("w2", scene.lease("ann").workerId());
        assertFalse(old.release());
    }

    @Test
    void case25FailureOfADrainingWorkerIsAStateError() {
        WorkerLease lease = scene.lease("ann");
        release("a");
        assertEquals(Refusal.DRAINING, scene.refused(scene.broker.workerFailed(lease, scene.now)));
        assertEquals(RouteState.DRAINING, scene.state("ann"));
    }
}
