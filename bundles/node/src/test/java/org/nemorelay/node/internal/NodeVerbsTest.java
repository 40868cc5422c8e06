package org.nemorelay.node.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.backend.Methods;
import org.nemorelay.backend.StatusReply;
import org.nemorelay.carrier.local.internal.LocalCarrier;
import org.nemorelay.files.FileAreas;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.seams.dial.ModelProber.Finding;
import org.nemorelay.seams.staging.ObjectStore;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.Recorder;
import org.nemorelay.workerctl.BackendInstallProgressEvent;
import org.nemorelay.workerctl.BackendInstallReply;
import org.nemorelay.workerctl.BackendInstallRequest;
import org.nemorelay.workerctl.BackendUpgradeRequest;
import org.nemorelay.workerctl.ModelStopReply;
import org.nemorelay.workerctl.ModelStopRequest;
import org.nemorelay.workerctl.OperationReply;
import org.nemorelay.workerctl.OperationRequest;
import org.nemorelay.workerctl.RunningModelInfo;

/** What a node answers to each verb, asked as a frontend asks (distributed-seams 4.1 to 4.8). */
class NodeVerbsTest {
    private static final String NODE = "n";

    @TempDir
    Path root;

    private final Recorder recorder = new Recorder();
    private final LocalCarrier carrier = new LocalCarrier(
            "local",
            1 << 20,
            WorkRoutes.standard(),
            ControlTimeouts.atMost(Duration.ofSeconds(60)),
            new Faults(recorder, recorder));
    private final AtomicInteger stops = new AtomicInteger();
    private final AtomicLong now = new AtomicLong();
    private final AtomicInteger freed = new AtomicInteger();
    private volatile StatusReply.State state = StatusReply.State.READY;
    private final BackendProcesses processes = new BackendProcesses(
            Map.of(
                    "echo", new BackendCommand("echo", List.of("sh", "-c", "exec sleep 1000 # {address}")),
                    "dying", new BackendCommand("dying", List.of("sh", "-c", "echo no licence {address}; exit 3"))),
            "127.0.0.1",
            "node.example",
            "",
            (context, node, address) -> address.isEmpty() ? Finding.UNREACHABLE : Finding.ALIVE,
            (node, address, parallel) -> new Backend(),
            recorder);
    private final LoadOperations operations = new LoadOperations(processes::endUnlessReady, now::get);
    private final NodeCommandSender frontend = carrier.commands();
    private ControlServer server;

    @BeforeEach
    void serve() throws IOException {
        server = carrier.controlServer(NODE);
        new NodeVerbs(
                        NODE,
                        processes,
                        operations,
                        new StoreFiles(FileAreas.below(root), noStore()),
                        stops::incrementAndGet)
                .serve(server);
    }

    /** No store: the verbs of files refuse in their own words. */
    private static ObjectStore noStore() {
        return (ObjectStore) Proxy.newProxyInstance(
                NodeVerbsTest.class.getClassLoader(),
                new Class<?>[] {ObjectStore.class},
                (proxy, method, arguments) -> {
                    throw new NotServedException("no store");
                });
    }

    @AfterEach
    void close() {
        server.close();
        carrier.close();
        operations.close();
        processes.close();
    }

    private BackendInstallReply install(String operation) {
        return frontend.installBackend(NODE, request(operation), event -> {});
    }

    private static BackendInstallRequest request(String operation) {
        BackendInstallRequest plain = BackendInstallRequest.of("echo", "m", 0);
        return new BackendInstallRequest(
                plain.backend(),
                plain.modelId(),
                "",
                "",
                "",
                "",
                0,
                false,
                "",
                operation,
                operation.isEmpty() ? 0 : 60_000);
    }

    /** The handlers, past any carrier. */
    private Map<String, ControlHandler> handlers() {
        Map<String, ControlHandler> handlers = new TreeMap<>();
        new NodeVerbs(NODE, processes, operations, new StoreFiles(new FileAreas(root, root, root), noStore()), () -> {})
                .serve(new ControlServer() {
                    @Override
                    public boolean handle(ControlVerb verb, Need need, ControlHandler handler) {
                        assertEquals(Need.MANDATORY, need);
                        return handlers.put(verb.name(), handler) == null;
                    }

                    @Override
                    public boolean handleWithProgress(ControlVerb verb, Need need, ControlHandler handler) {
                        return handle(verb, need, handler);
                    }

                    @Override
                    public void close() {}
                });
        return handlers;
    }

    @Test
    void everyVerbIsServed() {
        assertEquals(
                ControlVerb.ALL.stream().map(ControlVerb::name).sorted().toList(),
                List.copyOf(handlers().keySet()));
    }

    @Test
    void anInstallAnswersWithAProcessThatIsThereAndTellsItsProgress() {
        List<BackendInstallProgressEvent> events = new ArrayList<>();
        BackendInstallReply reply = frontend.installBackend(
                NODE, BackendInstallRequest.of("echo", "m", 2).withProgress("p"), events::add);
        assertTrue(reply.success() && reply.reportsOperations(), reply.toString());
        assertTrue(reply.address().startsWith("node.example:"), reply.address());
        Await.until("progress", () -> events.size() == 1);
        assertEquals("starting", events.getFirst().phase());
        RunningModelInfo running = frontend.modelsRunning(NODE).models().getFirst();
        assertEquals(new RunningModelInfo("m", 2, reply.address(), "", reply.processInstance()), running);
    }

    @Test
    void anInstallThatFailsIsRefusedWithTheReason() {
        BackendInstallReply unknown =
                frontend.installBackend(NODE, BackendInstallRequest.of("nothing", "m", 0), event -> {});
        assertFalse(unknown.success());
        assertTrue(unknown.error().contains("dying, echo"), unknown.error());
        assertEquals("", operations.id("m#0"));
    }

    @Test
    void backendsAreThoseOfTheConfiguration() {
        assertEquals(
                List.of("dying", "echo"),
                frontend.listBackends(NODE).backends().stream()
                        .map(backend -> backend.name())
                        .toList());
    }

    @Test
    void anUpgradeEndsTheBackendsProcessesAndStartsNone() {
        install("");
        var reply =
                frontend.upgradeBackend(NODE, new BackendUpgradeRequest("echo", "", "", "", "", 0, ""), event -> {});
        assertTrue(reply.success() && reply.reportsStoppedProcesses());
        assertEquals(List.of("m#0"), reply.stoppedProcessKeys());
        assertEquals(List.of(), frontend.modelsRunning(NODE).models());
        assertFalse(
                frontend.upgradeBackend(NODE, new BackendUpgradeRequest("nothing", "", "", "", "", 0, ""), event -> {})
                        .success());
    }

    @Test
    void aDeleteIsRefusedAndEndsNothing() {
        install("");
        var reply = frontend.deleteBackend(NODE, "echo");
        assertFalse(reply.success());
        assertEquals(List.of(), reply.stoppedProcessKeys());
        assertEquals(1, frontend.modelsRunning(NODE).models().size());
    }

    @Test
    void aStopTakesABackendAModelAKeyOrAll() {
        for (String identifier : List.of("echo", "m", "m#0", "")) {
            install("");
            frontend.stopBackend(NODE, identifier, true);
            assertEquals(List.of(), frontend.modelsRunning(NODE).models(), identifier);
        }
        frontend.stopBackend(NODE, "nothing", true);
    }

    @Test
    void anUnloadFreesOnlyWhatIsAtItsAddress() {
        BackendInstallReply reply = install("");
        frontend.unloadModel(NODE, "m", "node.example:1");
        assertEquals(0, freed.get());
        frontend.unloadModel(NODE, "m", reply.address());
        assertEquals(1, freed.getAndSet(0));
        assertEquals(1, frontend.modelsRunning(NODE).models().size(), "the process goes on");
    }

    @Test
    void aDeletedModelIsEnded() {
        install("");
        assertTrue(frontend.deleteModel(NODE, "m").success());
        assertEquals(List.of(), frontend.modelsRunning(NODE).models());
        assertTrue(frontend.deleteModel(NODE, "m").success(), "again");
    }

    @Test
    void theNodeIsToldToStop() {
        frontend.stopNode(NODE);
        Await.until("told", () -> stops.get() == 1);
    }

    // ---- load operations

    private ModelStopReply stop(String operation, String key, String address, String instance) {
        return frontend.stopLoadOperation(
                Context.background(), NODE, new ModelStopRequest("m", key, address, true, "", operation, instance));
    }

    @Test
    void aLoadIsReportedRenewedAndCompleted() {
        install("op");
        assertEquals("op", frontend.modelsRunning(NODE).models().getFirst().operationId());
        OperationReply renewed =
                frontend.operationControl(NODE, new OperationRequest(List.of("op", "other"), List.of()));
        assertEquals(List.of("op"), renewed.renewed());
        assertEquals(List.of("other"), renewed.unknown());
        OperationReply completed =
                frontend.operationControl(NODE, new OperationRequest(List.of(), List.of("op", "other")));
        assertEquals(List.of("op", "other"), completed.completed(), "one that is not known is complete too");
        assertEquals("", frontend.modelsRunning(NODE).models().getFirst().operationId());
    }

    @Test
    void aStopEndsItsLoadAndMayBeRepeated() {
        BackendInstallReply reply = install("op");
        ModelStopReply stopped = stop("op", "m#0", reply.address(), reply.processInstance());
        assertTrue(stopped.matched() && stopped.terminated(), stopped.toString());
        assertEquals(List.of(), frontend.modelsRunning(NODE).models());
        assertTrue(stop("op", "m#0", reply.address(), reply.processInstance()).terminated());
    }

    @Test
    void aStopOfAnotherLoadIsRefusedAndEndsNothing() {
        BackendInstallReply reply = install("op");
        for (ModelStopReply refused : List.of(
                stop("other", "m#0", reply.address(), ""),
                stop("op", "m#1", "", ""),
                stop("op", "m#0", "node.example:1", ""),
                stop("op", "m#0", "", "another instance"))) {
            assertFalse(refused.terminated(), refused.toString());
            assertTrue(refused.error().contains("does not belong to operation"), refused.error());
        }
        assertEquals(1, frontend.modelsRunning(NODE).models().size());
    }

    /** It must not turn into an unload of a model that serves. */
    @Test
    void aStopThatComesAfterItsLoadIsOverIsRefused() {
        BackendInstallReply reply = install("op");
        frontend.operationControl(NODE, new OperationRequest(List.of(), List.of("op")));
        assertFalse(stop("op", "m#0", reply.address(), "").terminated());
        assertEquals(1, frontend.modelsRunning(NODE).models().size());
    }

    @Test
    void aLoadThatNobodyRenewsIsEndedUnlessItServes() {
        install("op");
        state = StatusReply.State.READY;
        now.addAndGet(LoadOperations.RENEWAL.toNanos());
        operations.tick();
        Await.until(
                "looked at",
                () -> frontend.modelsRunning(NODE)
                        .models()
                        .getFirst()
                        .operationId()
                        .isEmpty());
        assertEquals(1, frontend.modelsRunning(NODE).models().size());
        install("again");
        state = StatusReply.State.BUSY;
        now.addAndGet(LoadOperations.RENEWAL.toNanos());
        operations.tick();
        Await.until("ended", () -> frontend.modelsRunning(NODE).models().isEmpty());
        Await.until("told", () -> recorder.lines().stream().anyMatch(line -> line.contains("Nobody waits")));
    }

    // ---- what is no request

    @Test
    void whatIsNoRequestGetsTheVerbsOwnRefusal() {
        assertEquals("{\"success\":false,\"error\":\"invalid request: ", ask("backend.install", "nonsense", 43));
        assertEquals("{\"success\":false,\"error\":\"invalid request: ", ask("backend.upgrade", "[]", 43));
        assertEquals("{\"success\":false,\"error\":\"invalid request: ", ask("backend.delete", "{\"backend\":1}", 43));
        assertEquals("{\"success\":false,\"error\":\"invalid request: ", ask("model.unload", "1", 43));
        assertTrue(ask("model.stop", "1", 500).contains("\"error\":\"invalid request: "));
        assertTrue(ask("backend.stop", "{\"backend\":1}", 500)
                .contains("\"error\":\"invalid request: decoding backend stop request: "));
        assertTrue(ask("backend.stop", "{\"backend\":1}", 500).contains("\"reports_stopped_processes\":true"));
        JsonObject delete = Json.parseObject(ask("model.delete", "1", 500));
        assertEquals("invalid request", delete.string("error"));
        for (String verb : List.of("ensure", "stage", "listdir", "release")) {
            assertEquals("{\"error\":\"invalid request\"}", ask("files." + verb, "1", 500), verb);
        }
    }

    private String ask(String verb, String body, int length) {
        Outcome outcome =
                handlers().get(verb).handle(Context.background(), body.getBytes(StandardCharsets.UTF_8), event -> {});
        byte[] bytes = switch (outcome) {
            case Outcome.Undecodable undecodable -> undecodable.body();
            case Outcome.Reply answer -> answer.body();
            default -> throw new AssertionError(outcome);
        };
        String reply = new String(bytes, StandardCharsets.UTF_8);
        return reply.substring(0, Math.min(length, reply.length()));
    }

    /** The refusal of a carrier that has no store is the worker's own answer. */
    @Test
    void filesWithoutAStoreAreRefused() {
        assertEquals("{\"error\":\"no store\"}", ask("files.ensure", "{\"key\":\"models/a\"}", 500));
        assertNotEquals("", ask("files.temp", "{}", 500));
    }

    @Test
    void aStopWithoutItsLoadIsNotSent() {
        assertThrows(IllegalArgumentException.class, () -> stop("", "m#0", "", ""));
    }

    private final class Backend implements BackendClient {
        @Override
        public byte[] call(Context context, String method, byte[] request) {
            return switch (method) {
                case Methods.STATUS -> new StatusReply(state).encode();
                case Methods.FREE -> {
                    freed.incrementAndGet();
                    yield new byte[0];
                }
                default -> throw new RefusedException("UNIMPLEMENTED", method);
            };
        }

        @Override
        public Call open(Context context, String method) {
            throw new RefusedException("UNIMPLEMENTED", method);
        }

        @Override
        public void close() {}
    }
}
