package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.control.LoadOperationControl;
import org.nemorelay.seams.control.Replica;
import org.nemorelay.workerctl.BackendInstallReply;
import org.nemorelay.workerctl.BackendInstallRequest;
import org.nemorelay.workerctl.ModelStopReply;
import org.nemorelay.workerctl.ModelStopRequest;
import org.nemorelay.workerctl.ModelUnloadRequest;
import org.nemorelay.workerctl.OperationReply;
import org.nemorelay.workerctl.OperationRequest;

/** Load operations: every clause of {@link LoadOperationControl} (distributed-seams 4.8, 4.9). */
public abstract class LoadOperationConformance extends Conformance {
    private static final String NODE = "n1";
    private static final Replica REPLICA = new Replica("m", 1, "h:1", "r7", "", "p1");
    private static final BackendInstallRequest INSTALL =
            BackendInstallRequest.of("b", "m", 1).withOperation("op-1", Duration.ofHours(1));
    private static final ModelStopRequest STOP = new ModelStopRequest("m", "m#1", "h:1", false, "", "op-1", "p1");
    private static final OperationRequest RENEW = new OperationRequest(List.of("op-1"), List.of());

    @Override
    final Seam seam() {
        return Seam.CONTROL;
    }

    private LoadOperationControl control() {
        return rig().here().commands();
    }

    private Map<String, Executable> calls() {
        Map<String, Executable> calls = new LinkedHashMap<>();
        calls.put("installBackendOp", () -> control().installBackendOp(NODE, INSTALL, event -> {}));
        calls.put("stopLoadOperation", () -> control().stopLoadOperation(Context.background(), NODE, STOP));
        calls.put("operationControl", () -> control().operationControl(NODE, RENEW));
        calls.put("unloadReplica", () -> control().unloadReplica(NODE, REPLICA));
        calls.put("stopModelReplica", () -> control().stopModelReplica(Context.background(), NODE, REPLICA, true));
        return calls;
    }

    @Test
    void nobodyListeningIsNoRoute() {
        calls().forEach((name, call) -> {
            NoRouteException none = assertThrows(NoRouteException.class, call, name);
            assertEquals(null, none.getCause(), "the transport's own error stays inside");
        });
    }

    @Test
    void silenceIsATimeoutAndNothingElse() {
        try (ControlFixture node = ControlFixture.silent(rig().peer(), NODE)) {
            together(each(calls(), (name, call) -> assertThrows(TimedOutException.class, call, name)));
            assertTrue(node.sent().isEmpty());
        }
    }

    @Test
    void everyCallHasABoundOfItsOwn() {
        try (ControlFixture node = ControlFixture.silent(rig().peer(), NODE)) {
            together(each(calls(), (name, call) -> {
                long start = System.nanoTime();
                assertThrows(TimedOutException.class, call, name);
                Duration took = Duration.ofNanos(System.nanoTime() - start);
                assertFalse(took.compareTo(CarrierRig.BOUND.dividedBy(2)) < 0, name + " gave up after " + took);
                assertTrue(took.compareTo(CarrierRig.BOUND.plusSeconds(4)) < 0, name + " took " + took);
            }));
            assertTrue(node.sent().isEmpty());
        }
    }

    @Test
    void renewalsFailWithinOneCadence() {
        try (ControlFixture node = ControlFixture.silent(rig().peer(), NODE)) {
            long start = System.nanoTime();
            assertThrows(TimedOutException.class, () -> control().operationControl(NODE, RENEW));
            assertTrue(Duration.ofNanos(System.nanoTime() - start).compareTo(Duration.ofSeconds(5)) <= 0);
            assertTrue(node.sent().isEmpty());
        }
    }

    @Test
    void aCallerMayGiveAStopLessTime() {
        try (ControlFixture node = ControlFixture.silent(rig().peer(), NODE)) {
            Context shorter = Context.background().withTimeout(CarrierRig.BOUND.dividedBy(10));
            long start = System.nanoTime();
            assertThrows(TimedOutException.class, () -> control().stopLoadOperation(shorter, NODE, STOP));
            assertTrue(Duration.ofNanos(System.nanoTime() - start).compareTo(CarrierRig.BOUND) < 0);
            assertTrue(node.sent().isEmpty());
        }
    }

    @Test
    void aRefusalIsTheReply() {
        try (ControlFixture node = ControlFixture.refusing(rig().peer(), NODE, "disk full")) {
            BackendInstallReply install = control().installBackendOp(NODE, INSTALL, event -> {});
            assertFalse(install.success());
            assertEquals("disk full", install.error());
            assertTrue(install.reportsOperations(), "the worker's own report");
            assertEquals(
                    "disk full",
                    control()
                            .stopLoadOperation(Context.background(), NODE, STOP)
                            .error());
            assertEquals(
                    List.of("op-1"), control().operationControl(NODE, RENEW).unknown());
            assertEquals(3, node.sent().size());
        }
    }

    @Test
    void aRefusedUnloadIsARefusal() {
        try (ControlFixture node = ControlFixture.refusing(rig().peer(), NODE, "busy")) {
            RefusedException refused =
                    assertThrows(RefusedException.class, () -> control().unloadReplica(NODE, REPLICA));
            assertTrue(refused.getMessage().contains("busy"), refused.getMessage());
            assertEquals(1, node.sent().size());
        }
    }

    @Test
    void requestsCarryTheirFields() {
        try (ControlFixture node = ControlFixture.answering(rig().peer(), NODE)) {
            control().installBackendOp(NODE, INSTALL, event -> {});
            control().stopLoadOperation(Context.background(), NODE, STOP);
            OperationReply renewed = control().operationControl(NODE, RENEW);
            control().unloadReplica(NODE, REPLICA);
            assertEquals(List.of("op-1"), renewed.renewed());
            assertEquals(List.of(INSTALL, STOP, RENEW, new ModelUnloadRequest("m", "h:1", "p1")), node.sent());
            assertEquals(3_600_000, ((BackendInstallRequest) node.sent().getFirst()).deadlineMs());
        }
    }

    @Test
    void stoppingAReplicaNamesItExactly() {
        try (ControlFixture node = ControlFixture.answering(rig().peer(), NODE)) {
            assertTrue(control()
                    .stopModelReplica(Context.background(), NODE, REPLICA, true)
                    .terminated());
            assertEquals(List.of(new ModelStopRequest("m", "m#1", "h:1", true, "r7", "", "p1")), node.sent());
        }
    }

    @Test
    void aRepeatedStopIsAnsweredAgain() {
        try (ControlFixture node = ControlFixture.answering(rig().peer(), NODE)) {
            for (int i = 0; i < 2; i++) {
                ModelStopReply reply = control().stopLoadOperation(Context.background(), NODE, STOP);
                assertTrue(reply.terminated());
            }
            assertEquals(2, node.sent().size());
        }
    }

    @Test
    void aStopWithoutOperationSendsNothing() {
        try (ControlFixture node = ControlFixture.answering(rig().peer(), NODE)) {
            ModelStopRequest nameless = new ModelStopRequest("m", "m#1", "h:1", false, "", "", "");
            assertThrows(
                    IllegalArgumentException.class,
                    () -> control().stopLoadOperation(Context.background(), NODE, nameless));
            assertThrows(
                    IllegalArgumentException.class,
                    () -> control().installBackendOp(NODE, BackendInstallRequest.of("b", "m", 0), event -> {}));
            assertTrue(node.sent().isEmpty());
        }
    }

    @Test
    void anUnloadWithoutAddressSendsNothing() {
        try (ControlFixture node = ControlFixture.answering(rig().peer(), NODE)) {
            control().unloadReplica(NODE, new Replica("m", 1, "", "", "", ""));
            assertTrue(node.sent().isEmpty());
        }
    }
}
