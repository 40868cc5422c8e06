package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.nemorelay.seams.AbsentException;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.StillInstallingException;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.workerctl.BackendInstallRequest;
import org.nemorelay.workerctl.BackendStopRequest;
import org.nemorelay.workerctl.BackendUpgradeRequest;
import org.nemorelay.workerctl.ModelsRunningReply;

/** The frontend's half of the control verbs, and the four conditions against each other (distributed-seams 4.5, 9). */
public abstract class CommandSenderConformance extends Conformance {
    private static final String NODE = "n1";
    private static final BackendInstallRequest INSTALL = BackendInstallRequest.of("b", "m", 0);
    private static final BackendUpgradeRequest UPGRADE = new BackendUpgradeRequest("b", "", "", "", "", 0, "");

    @Override
    final Seam seam() {
        return Seam.CONTROL;
    }

    private NodeCommandSender commands() {
        return rig().here().commands();
    }

    /** Every verb that is asked. */
    private Map<String, Executable> questions() {
        Map<String, Executable> calls = new LinkedHashMap<>();
        calls.put("installBackend", () -> commands().installBackend(NODE, INSTALL, event -> {}));
        calls.put("upgradeBackend", () -> commands().upgradeBackend(NODE, UPGRADE, event -> {}));
        calls.put("deleteBackend", () -> commands().deleteBackend(NODE, "b"));
        calls.put("listBackends", () -> commands().listBackends(NODE));
        calls.put("modelsRunning", () -> commands().modelsRunning(NODE));
        calls.put("unloadModel", () -> commands().unloadModel(NODE, "m", "h:1"));
        calls.put("deleteModel", () -> commands().deleteModel(NODE, "m"));
        return calls;
    }

    @Test
    void nobodyListeningIsNoRouteFromEveryQuestion() {
        questions().forEach((name, call) -> assertThrows(NoRouteException.class, call, name));
        assertThrows(NoRouteException.class, () -> commands().stopBackend(NODE, "b", false));
        assertThrows(NoRouteException.class, () -> commands().pingNode(NODE));
    }

    @Test
    void silenceIsATimeoutFromEveryQuestionAndForInstallsMeansStillAtIt() {
        try (ControlFixture node = ControlFixture.silent(rig().peer(), NODE)) {
            together(each(questions(), (name, call) -> {
                TimedOutException timeout = assertThrows(TimedOutException.class, call, name);
                assertEquals(
                        name.equals("installBackend") || name.equals("upgradeBackend"),
                        timeout instanceof StillInstallingException,
                        name);
            }));
            assertTrue(node.sent().isEmpty());
        }
    }

    @Test
    void aRefusalIsTheReplyOrARefusalAndNeverAnotherCondition() {
        try (ControlFixture node = ControlFixture.refusing(rig().peer(), NODE, "no")) {
            assertEquals(
                    "no", commands().installBackend(NODE, INSTALL, event -> {}).error());
            assertEquals(
                    "no", commands().upgradeBackend(NODE, UPGRADE, event -> {}).error());
            assertEquals("no", commands().deleteBackend(NODE, "b").error());
            assertEquals("no", commands().listBackends(NODE).error());
            assertEquals("no", commands().modelsRunning(NODE).error());
            assertEquals("no", commands().deleteModel(NODE, "m").error());
            assertThrows(RefusedException.class, () -> commands().unloadModel(NODE, "m", "h:1"));
            assertThrows(RefusedException.class, () -> commands().stopBackend(NODE, "b", false));
            assertDoesNotThrow(() -> commands().pingNode(NODE), "a node that refuses is present");
            assertFalse(node.sent().isEmpty());
        }
    }

    @Test
    void anOwnBrokenLinkIsAbsenceFromEveryQuestionAndNeverNoRoute() {
        try (ControlFixture node = ControlFixture.answering(rig().peer(), NODE)) {
            rig().breakLink();
            Await.until("the link is down", () -> !rig().here().connected());
            questions().forEach((name, call) -> assertThrows(AbsentException.class, call, name));
            assertDoesNotThrow(() -> commands().pingNode(NODE), "no evidence about the node");
            assertTrue(node.sent().isEmpty());
        }
    }

    @Test
    void aStopThatIsNotAnsweredCountsAsDone() {
        try (ControlFixture node = ControlFixture.silent(rig().peer(), NODE)) {
            assertDoesNotThrow(() -> commands().stopBackend(NODE, "b", false));
            assertTrue(rig().recorder().lines().stream()
                    .anyMatch(line -> line.startsWith("WARN") && line.contains("does not answer")));
            assertTrue(node.sent().isEmpty());
        }
    }

    @Test
    void aStopThatFoundNothingIsASuccessWithAWarning() {
        try (ControlFixture node = ControlFixture.answering(rig().peer(), NODE)) {
            commands().stopBackend(NODE, "b", true);
            assertEquals(List.of(new BackendStopRequest("b", true)), node.sent());
            assertTrue(rig().recorder().lines().stream()
                    .anyMatch(line -> line.startsWith("WARN") && line.contains("was running")));
        }
    }

    @Test
    void aPingIsAnsweredByWhateverTheNodeServes() {
        ControlServer older = rig().peer().controlServer(NODE);
        older.handle(
                ControlVerb.MODELS_RUNNING,
                Need.MANDATORY,
                ControlHandler.unary(context -> new ModelsRunningReply(List.of(), "", false)));
        assertDoesNotThrow(() -> commands().pingNode(NODE));
        older.close();
        try (ControlFixture node = ControlFixture.silent(rig().peer(), NODE)) {
            assertDoesNotThrow(() -> commands().pingNode(NODE), "silence is no evidence");
            assertTrue(node.sent().isEmpty());
        }
    }

    @Test
    void anAnswerOfAnotherShapeIsThePeersAnswer() {
        ControlServer odd = rig().peer().controlServer(NODE);
        odd.handle(
                ControlVerb.BACKEND_LIST,
                Need.MANDATORY,
                (context, body, progress) -> new org.nemorelay.seams.control.Outcome.Reply(bytes("[]")));
        Throwable thrown = assertThrows(RuntimeException.class, () -> commands().listBackends(NODE));
        assertEquals(
                "UNDECODABLE", assertInstanceOf(RefusedException.class, thrown).code());
        odd.close();
    }

    @Test
    void nodesDoNotHearEachOther() {
        try (ControlFixture one = ControlFixture.answering(rig().peer(), "one");
                ControlFixture other = ControlFixture.answering(rig().peer(), "other")) {
            commands().installBackend("one", INSTALL, event -> {});
            assertEquals(1, one.sent().size());
            assertTrue(other.sent().isEmpty());
        }
    }
}
