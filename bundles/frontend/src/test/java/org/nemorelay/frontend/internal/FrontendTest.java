package org.nemorelay.frontend.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.backend.Reply;
import org.nemorelay.backend.Result;
import org.nemorelay.backend.echo.EchoBackend;
import org.nemorelay.carrier.local.internal.LocalCarrier;
import org.nemorelay.frontend.internal.NodeRegistry.Status;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.dial.BackendService;
import org.nemorelay.seams.dial.WorkerDialers;
import org.nemorelay.testkit.Recorder;
import org.nemorelay.workerctl.BackendInstallReply;
import org.nemorelay.workerctl.BackendInstallRequest;

/** The frontend over a carrier, with nodes played by the test: which node a request takes, and what changes a node's state. */
class FrontendTest {
    private static final String ADDRESS = "10.0.0.1:50051";

    private final Recorder recorder = new Recorder();
    private final LocalCarrier carrier = new LocalCarrier(
            "local",
            1 << 20,
            WorkRoutes.standard(),
            ControlTimeouts.atMost(Duration.ofSeconds(2)),
            new Faults(recorder, recorder));
    private final List<String> dialled = new CopyOnWriteArrayList<>();
    private final List<String> forgotten = new CopyOnWriteArrayList<>();
    private final NodeRegistry registry = new NodeRegistry();
    private final HttpEngine engine = HttpEngine.create(Map.of());
    private final HttpClient http = HttpClient.newHttpClient();
    private final List<Registration> open = new ArrayList<>();
    private Router router;
    private Jobs jobs;
    private HttpListener listener;

    @BeforeEach
    void start() {
        router = new Router(
                registry,
                carrier.commands(),
                (node, address, parallel) -> {
                    dialled.add(node + " " + address);
                    return carrier.backendClients().newClient(node, address, parallel);
                },
                carrier.stager(),
                recorder);
        jobs = new Jobs(carrier.workQueue(), carrier.broadcaster());
        FrontendSurface surface = new FrontendSurface(
                List.of(new ModelEntry("parrot", "echo", "", 0)),
                registry,
                router,
                jobs,
                carrier.workQueue(),
                new WorkerDialers() {
                    @Override
                    public Dialer dialerFor(String nodeId) {
                        return carrier.dialers().dialerFor(nodeId);
                    }

                    @Override
                    public void forgetNode(String nodeId) {
                        forgotten.add(nodeId);
                        carrier.dialers().forgetNode(nodeId);
                    }
                },
                "",
                "");
        listener = engine.listen("127.0.0.1", 0, server -> surface);
    }

    @AfterEach
    void stop() {
        listener.close();
        engine.close();
        jobs.close();
        router.close();
        open.forEach(Registration::close);
        carrier.close();
    }

    private String register(String name) {
        return post("/api/node/register", Json.object("name", name, "address", "10.0.0.1"), 201)
                .string("id");
    }

    /** A node that installs, and has this backend at the address that all nodes of this test report. */
    private void serves(String nodeId, BackendService backend) {
        ControlServer server = carrier.controlServer(nodeId);
        server.handleWithProgress(
                ControlVerb.BACKEND_INSTALL,
                Need.MANDATORY,
                ControlHandler.unary(
                        BackendInstallRequest::decode,
                        BackendInstallReply::refused,
                        (context, request) -> new BackendInstallReply(true, ADDRESS, "", "i", true)));
        open.add(server);
        open.add(carrier.endpoints().backend(nodeId, ADDRESS, backend));
    }

    private JsonObject post(String path, Map<String, Object> body, int status) {
        HttpResponse<String> answer = send(HttpRequest.newBuilder(uri(path))
                .POST(HttpRequest.BodyPublishers.ofString(Json.write(body)))
                .build());
        assertEquals(status, answer.statusCode(), answer.body());
        return Json.parseObject(answer.body());
    }

    private URI uri(String path) {
        return URI.create("http://127.0.0.1:" + listener.port() + path);
    }

    private HttpResponse<String> send(HttpRequest request) {
        try {
            return http.send(request, HttpResponse.BodyHandlers.ofString());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static Map<String, Object> chat(String content, boolean stream) {
        return Json.object(
                "model",
                "parrot",
                "stream",
                stream,
                "messages",
                List.of(Json.object("role", "user", "content", content)));
    }

    private String ask(String content) {
        return post("/v1/chat/completions", chat(content, false), 200)
                .objects("choices")
                .getFirst()
                .object("message")
                .string("content");
    }

    private Status status(String id) {
        return registry.node(id).orElseThrow().status();
    }

    @Test
    void openItem3_whoLeavesOrIsRemovedIsForgotten() {
        String one = register("one");
        String other = register("other");
        forgotten.clear();
        post("/api/node/" + one + "/deregister", Map.of(), 200);
        HttpResponse<String> removed =
                send(HttpRequest.newBuilder(uri("/api/node/" + other)).DELETE().build());
        assertEquals(200, removed.statusCode());
        assertEquals(List.of(one, other), forgotten);
    }

    @Test
    void aRefusalHasTheFormOfItsApi() {
        Map<String, Object> nonsense = Json.object("model", 7);
        assertEquals(
                "invalid_argument",
                post("/v1/chat/completions", nonsense, 400).object("error").string("type"));
        for (String path : List.of("/api/node/register", "/api/agents/a/chat")) {
            assertFalse(post(path, nonsense, 400).string("error").isEmpty(), path);
        }
        assertEquals(
                "there is no such node",
                post("/api/node/none/drain", Map.of(), 404).string("error"));
        assertEquals(
                "there is nothing at this path",
                post("/api/node/none/dance", Map.of(), 404).string("error"));
    }

    @Test
    void aPathThatWantsAnotherMethodSaysWhich() {
        Map<String, String> wanted = Map.of(
                "/healthz", "GET",
                "/v1/models", "GET",
                "/v1/chat/completions", "POST",
                "/api/nodes", "GET",
                "/api/node/register", "POST",
                "/api/jobs", "POST",
                "/api/jobs/1", "GET",
                "/api/agents/a/chat", "POST");
        wanted.forEach((path, method) -> {
            HttpResponse<String> answer = send(HttpRequest.newBuilder(uri(path))
                    .method("PUT", HttpRequest.BodyPublishers.noBody())
                    .build());
            assertEquals(405, answer.statusCode(), path);
            assertEquals(method, answer.headers().firstValue("Allow").orElse(""), path);
            assertTrue(answer.body().contains("this path wants " + method), answer.body());
        });
    }

    /** A backend that answers with something else is passed over as one that refuses. */
    @Test
    void aLoadThatIsAnsweredWithSomethingElseIsARefusal() {
        serves(register("one"), (method, exchange) -> {
            exchange.next();
            exchange.send("\u00ff nonsense".getBytes(StandardCharsets.UTF_8));
        });
        JsonObject answer = post(
                "/v1/chat/completions",
                Json.object("model", "parrot", "messages", List.of(Json.object("role", "user", "content", "hello"))),
                503);
        String message = answer.object("error").string("message");
        assertTrue(message.contains("one: the backend answered with something else"), message);
    }

    @Test
    void openItem1_theModelListMakesNoClientAndEveryClientKnowsItsNode() {
        String one = register("one");
        serves(one, new EchoBackend(Duration.ZERO));
        assertEquals(
                "parrot",
                Json.parseObject(send(HttpRequest.newBuilder(uri("/v1/models")).build())
                                .body())
                        .objects("data")
                        .getFirst()
                        .string("id"));
        assertEquals(List.of(), dialled);
        assertEquals("hi", ask("hi"));
        assertEquals("hi", ask("hi"));
        send(HttpRequest.newBuilder(uri("/v1/models")).build());
        assertEquals(List.of(one + " " + ADDRESS), dialled);
    }

    @Test
    void noRouteMakesANodeUnhealthyAndItsHeartbeatReversesThat() {
        String gone = register("a-gone");
        String there = register("b-there");
        serves(there, new EchoBackend(Duration.ZERO));
        assertEquals("x", ask("x"));
        assertEquals(Status.UNHEALTHY, status(gone));
        assertEquals(Status.HEALTHY, status(there));
        post("/api/node/" + gone + "/heartbeat", Json.object(), 200);
        assertEquals(Status.HEALTHY, status(gone));
    }

    @Test
    void aRefusalIsTheNodesOwnAnswerAndChangesNothing() {
        String refusing = register("a-refusing");
        ControlServer server = carrier.controlServer(refusing);
        open.add(server);
        server.handleWithProgress(
                ControlVerb.BACKEND_INSTALL,
                Need.MANDATORY,
                ControlHandler.unary(
                        BackendInstallRequest::decode,
                        BackendInstallReply::refused,
                        (context, request) -> BackendInstallReply.refused("disk full")));
        JsonObject answer = post("/v1/chat/completions", chat("x", false), 503);
        assertTrue(answer.object("error").string("message").contains("disk full"));
        assertEquals(Status.HEALTHY, status(refusing));
        serves(register("b-there"), new EchoBackend(Duration.ZERO));
        assertEquals("x", ask("x"));
        assertEquals(Status.HEALTHY, status(refusing));
    }

    @Test
    void silenceIsATimeoutAndChangesNothing() {
        String silent = register("a-silent");
        ControlServer server = carrier.controlServer(silent);
        open.add(server);
        server.handleWithProgress(ControlVerb.BACKEND_INSTALL, Need.MANDATORY, ControlHandler.noReply(() -> {}));
        serves(register("b-there"), new EchoBackend(Duration.ZERO));
        assertEquals("x", ask("x"));
        assertEquals(Status.HEALTHY, status(silent));
    }

    @Test
    void aBackendThatIsGoneIsPassedOverAndTheNodeStaysWhatItIs() {
        String one = register("one");
        serves(one, new EchoBackend(Duration.ZERO));
        assertEquals("x", ask("x"));
        String other = register("other");
        open.removeLast().close();
        serves(other, new EchoBackend(Duration.ZERO));
        assertEquals("y", ask("y"));
        assertEquals(Status.HEALTHY, status(one));
        assertEquals("z", ask("z"));
    }

    @Test
    void aStreamThatBreaksEndsWithAnErrorEvent() {
        String one = register("one");
        serves(one, (method, exchange) -> {
            exchange.next();
            switch (method) {
                case "LoadModel" -> exchange.send(new Result("", true).encode());
                default -> {
                    exchange.send(Reply.of("be", 1, 1).encode());
                    throw new org.nemorelay.seams.RefusedException("INTERNAL", "out of memory");
                }
            }
        });
        HttpResponse<String> answer = send(HttpRequest.newBuilder(uri("/v1/chat/completions"))
                .POST(HttpRequest.BodyPublishers.ofString(Json.write(chat("x", true))))
                .build());
        assertEquals(200, answer.statusCode());
        assertTrue(answer.body().contains("\"content\":\"be\""), answer.body());
        assertTrue(answer.body().contains("the stream broke off"), answer.body());
        assertTrue(answer.body().contains("out of memory"), answer.body());
        assertFalse(answer.body().contains("[DONE]"), answer.body());
    }

    @Test
    void aModelThatABackendHasLostIsLoadedAgain() {
        EchoBackend echo = new EchoBackend(Duration.ZERO);
        String one = register("one");
        serves(one, echo);
        assertEquals("x", ask("x"));
        String other = register("other");
        serves(other, new EchoBackend(Duration.ZERO));
        try (var client = carrier.backendClients().newClient(one, ADDRESS, true)) {
            client.call(org.nemorelay.seams.Context.background(), "Free", new byte[0]);
        }
        assertEquals("y", ask("y"));
        assertEquals("z", ask("z"));
    }

    @Test
    void aDrainingNodeTakesNothingAndStaysDrainingWhenItRegistersAgain() {
        String one = register("one");
        serves(one, new EchoBackend(Duration.ZERO));
        post("/api/node/" + one + "/drain", Json.object(), 200);
        post("/v1/chat/completions", chat("x", false), 503);
        assertEquals(one, register("one"));
        post("/api/node/" + one + "/heartbeat", Json.object(), 200);
        assertEquals(Status.DRAINING, status(one));
        post("/api/node/" + one + "/resume", Json.object(), 200);
        assertEquals("x", ask("x"));
    }

    @Test
    void charactersThatArriveInPiecesAreWhole() {
        String one = register("one");
        serves(one, (method, exchange) -> {
            exchange.next();
            if (method.equals("LoadModel")) {
                exchange.send(new Result("", true).encode());
                return;
            }
            byte[] text = "grüße \uD83D\uDE42".getBytes(java.nio.charset.StandardCharsets.UTF_8);
            for (byte each : text) {
                exchange.send(new Reply(new byte[] {each}, 1, 1, List.of()).encode());
            }
        });
        assertEquals("grüße \uD83D\uDE42", ask("x"));
    }
}
