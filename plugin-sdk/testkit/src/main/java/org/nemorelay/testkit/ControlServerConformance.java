package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoRouteException;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.StagingException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.carrier.Verbs;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.workerctl.BackendInstallProgressEvent;
import org.nemorelay.workerctl.BackendInstallReply;
import org.nemorelay.workerctl.BackendInstallRequest;
import org.nemorelay.workerctl.BackendListReply;
import org.nemorelay.workerctl.ModelDeleteReply;
import org.nemorelay.workerctl.ModelsRunningReply;

/** The worker's half of the control verbs (distributed-seams 4.3, 4.4). */
public abstract class ControlServerConformance extends Conformance {
    private static final Duration QUIET = Duration.ofMillis(200);

    @Override
    final Seam seam() {
        return Seam.CONTROL;
    }

    private ControlServer server(String nodeId) {
        return rig().peer().controlServer(nodeId);
    }

    private static BackendInstallReply installed(String address) {
        return new BackendInstallReply(true, address, "", "", true);
    }

    private BackendInstallReply install(String nodeId, BackendInstallRequest request) {
        return rig().here().commands().installBackend(nodeId, request, event -> {});
    }

    @Test
    void oneRequestOfAVerbAtATimeWhileOtherVerbsGoOn() {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger now = new AtomicInteger();
        AtomicInteger peak = new AtomicInteger();
        ControlServer server = server("n");
        server.handle(ControlVerb.BACKEND_LIST, Need.MANDATORY, ControlHandler.unary(context -> {
            peak.accumulateAndGet(now.incrementAndGet(), Math::max);
            started.countDown();
            Await.latch(release);
            now.decrementAndGet();
            return new BackendListReply(List.of(), "");
        }));
        server.handle(
                ControlVerb.MODELS_RUNNING,
                Need.MANDATORY,
                ControlHandler.unary(context -> new ModelsRunningReply(List.of(), "", true)));
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            callers.add(Thread.ofVirtual().start(() -> rig().here().commands().listBackends("n")));
        }
        Await.latch(started);
        assertTrue(rig().here().commands().modelsRunning("n").reportsOperations());
        release.countDown();
        Await.until("all are answered", () -> callers.stream().noneMatch(Thread::isAlive));
        assertEquals(1, peak.get());
        server.close();
    }

    @Test
    void requestsOfAVerbWithProgressOverlapAndReportBeforeTheReply() {
        CountDownLatch both = new CountDownLatch(2);
        ControlServer server = server("n");
        server.handleWithProgress(
                ControlVerb.BACKEND_INSTALL,
                Need.MANDATORY,
                ControlHandler.withProgress(
                        BackendInstallRequest::decode, BackendInstallReply::refused, (context, request, progress) -> {
                            both.countDown();
                            Await.latch(both);
                            progress.report(new BackendInstallProgressEvent(
                                    request.opId(), "n", request.backend(), "", "", "", 50, "downloading"));
                            return installed("h:1");
                        }));
        List<BackendInstallProgressEvent> events = Collections.synchronizedList(new ArrayList<>());
        Thread other = Thread.ofVirtual().start(() -> install("n", BackendInstallRequest.of("b", "m", 1)));
        BackendInstallReply reply = rig().here()
                .commands()
                .installBackend("n", BackendInstallRequest.of("a", "m", 0).withProgress("op.1"), events::add);
        assertEquals(installed("h:1"), reply);
        Await.until("the progress", () -> events.size() == 1);
        assertEquals("a", events.getFirst().backend());
        Await.until("the other one is answered", () -> !other.isAlive());
        server.close();
    }

    @Test
    void anUndecodableBodyIsAnsweredWithTheVerbsTypedRefusal() {
        ControlServer server = server("n");
        server.handleWithProgress(
                ControlVerb.BACKEND_INSTALL,
                Need.MANDATORY,
                ControlHandler.withProgress(
                        BackendInstallRequest::decode,
                        BackendInstallReply::refused,
                        (context, request, progress) -> installed("never")));
        server.handle(
                ControlVerb.MODEL_DELETE,
                Need.MANDATORY,
                ControlHandler.unary(
                        org.nemorelay.workerctl.ModelDeleteRequest::decode,
                        cause -> ModelDeleteReply.refused("invalid request"),
                        (context, request) -> new ModelDeleteReply(true, "")));
        String install = text(raw("n", ControlVerb.BACKEND_INSTALL, "not json"));
        assertTrue(install.startsWith("{\"success\":false,\"error\":\"invalid request: "), install);
        assertEquals(
                "{\"success\":false,\"error\":\"invalid request\"}", text(raw("n", ControlVerb.MODEL_DELETE, "[]")));
        assertTrue(rig().recorder().lines().stream()
                .anyMatch(line -> line.startsWith("WARN") && line.contains("backend.install")));
        server.close();
    }

    private byte[] raw(String nodeId, ControlVerb verb, String body) {
        return rig().exchange()
                .request(Context.background(), Verbs.subject(nodeId, verb), bytes(body), CarrierRig.BOUND);
    }

    @Test
    void openItem8_aVerbWithoutAPlaceIsAnErrorWhenMandatoryAndLeftOutWhenOptional() {
        ControlVerb elsewhere = new ControlVerb("diagnostics.dump");
        ControlHandler handler = ControlHandler.unary(context -> new ModelDeleteReply(true, ""));
        ControlServer server = server("n");
        NotServedException refused =
                assertThrows(NotServedException.class, () -> server.handle(elsewhere, Need.MANDATORY, handler));
        assertTrue(refused.getMessage().startsWith("serving diagnostics.dump: "), refused.getMessage());
        assertFalse(server.handle(elsewhere, Need.OPTIONAL, handler));
        assertFalse(server.handleWithProgress(elsewhere, Need.OPTIONAL, handler));
        assertTrue(server.handle(ControlVerb.MODEL_DELETE, Need.OPTIONAL, handler));
        assertTrue(rig().here().commands().deleteModel("n", "m").success());
        server.close();
    }

    @Test
    void everyVerbOfTheTableIsServed() {
        ControlServer server = server("n");
        for (ControlVerb verb : ControlVerb.ALL) {
            assertTrue(
                    server.handle(
                            verb, Need.MANDATORY, ControlHandler.unary(context -> new ModelDeleteReply(true, ""))),
                    verb.name());
        }
        server.close();
    }

    @Test
    void aVerbThatIsToldIsNotAnswered() {
        CountDownLatch told = new CountDownLatch(1);
        ControlServer server = server("n");
        server.handle(ControlVerb.NODE_STOP, Need.MANDATORY, ControlHandler.noReply(told::countDown));
        rig().here().commands().stopNode("n");
        Await.latch(told);
        assertThrows(TimedOutException.class, () -> raw("n", ControlVerb.NODE_STOP, ""));
        server.close();
    }

    @Test
    void aFaultInASerialVerbStopsItAndEndsTheProcess() {
        AtomicInteger runs = new AtomicInteger();
        ControlServer server = server("n");
        server.handle(ControlVerb.BACKEND_LIST, Need.MANDATORY, ControlHandler.unary(context -> {
            runs.incrementAndGet();
            throw new IllegalStateException("fault");
        }));
        assertThrows(TimedOutException.class, () -> rig().here().commands().listBackends("n"));
        assertEquals(1, rig().recorder().failures().size());
        String report = rig().recorder().failures().getFirst().getMessage();
        assertTrue(report.contains("backend.list of node n") && report.contains("fault"), report);
        assertThrows(NoRouteException.class, () -> rig().here().commands().listBackends("n"));
        assertEquals(1, runs.get());
        server.close();
    }

    @Test
    void aFaultInAVerbWithProgressIsCaughtAndAnswered() {
        ControlServer server = server("n");
        server.handleWithProgress(
                ControlVerb.BACKEND_INSTALL,
                Need.MANDATORY,
                ControlHandler.withProgress(
                        BackendInstallRequest::decode, BackendInstallReply::refused, (context, request, progress) -> {
                            throw new IllegalStateException("fault");
                        }));
        for (int i = 0; i < 2; i++) {
            BackendInstallReply reply = install("n", BackendInstallRequest.of("b", "m", 0));
            assertEquals(BackendInstallReply.refused("internal error"), reply);
        }
        assertEquals(0, rig().recorder().failures().size());
        server.close();
    }

    @Test
    void aFailureThatAHandlerMeansIsItsRefusal() {
        ControlServer server = server("n");
        server.handle(ControlVerb.BACKEND_LIST, Need.MANDATORY, ControlHandler.unary(context -> {
            throw new StagingException("disk full");
        }));
        assertEquals("disk full", rig().here().commands().listBackends("n").error());
        assertEquals(0, rig().recorder().failures().size());
        server.close();
    }

    @Test
    void handlersGetAContextThatNoCallerCancels() {
        AtomicInteger cancelled = new AtomicInteger();
        CountDownLatch ran = new CountDownLatch(1);
        ControlServer server = server("n");
        server.handle(ControlVerb.BACKEND_LIST, Need.MANDATORY, ControlHandler.unary(context -> {
            context.onCancel(cancelled::incrementAndGet);
            ran.countDown();
            return new BackendListReply(List.of(), "");
        }));
        rig().here().commands().listBackends("n");
        Await.latch(ran);
        assertEquals(0, cancelled.get());
        server.close();
    }

    @Test
    void progressWithoutAnOperationIdIsNotSent() {
        List<Object> events = Collections.synchronizedList(new ArrayList<>());
        rig().here().broadcaster().subscribe("nodes.n.backend.install.*.progress", events::add);
        ControlServer server = server("n");
        server.handleWithProgress(
                ControlVerb.BACKEND_INSTALL,
                Need.MANDATORY,
                ControlHandler.withProgress(
                        BackendInstallRequest::decode, BackendInstallReply::refused, (context, request, progress) -> {
                            progress.report(
                                    new BackendInstallProgressEvent(request.opId(), "n", "b", "", "", "", 1, ""));
                            return installed("h:1");
                        }));
        install("n", BackendInstallRequest.of("b", "m", 0));
        Await.never("an event", QUIET, () -> !events.isEmpty());
        Await.until("with an id there are, though one may be lost", () -> {
            install("n", BackendInstallRequest.of("b", "m", 0).withProgress("op"));
            return !events.isEmpty();
        });
        server.close();
    }

    @Test
    void closingWaitsForRunningHandlersAndThenThereIsNoRoute() {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        ControlServer server = server("n");
        server.handle(ControlVerb.BACKEND_LIST, Need.MANDATORY, ControlHandler.unary(context -> {
            started.countDown();
            Await.latch(release);
            return new BackendListReply(List.of(), "");
        }));
        Thread caller = Thread.ofVirtual().start(() -> rig().here().commands().listBackends("n"));
        Await.latch(started);
        Thread closing = Thread.ofVirtual().start(server::close);
        Await.never("it closes while a handler runs", QUIET, () -> !closing.isAlive());
        release.countDown();
        Await.until("it closes", () -> !closing.isAlive() && !caller.isAlive());
        assertThrows(NoRouteException.class, () -> rig().here().commands().listBackends("n"));
        assertEquals("nodes.n.backend.list", Subjects.node("n", "backend.list"));
    }
}
