package org.nemorelay.agents.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.agents.internal.mcp.McpSessions;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.TimedOutException;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.FakeBus;
import org.nemorelay.workerctl.McpDiscoveryRequest;
import org.nemorelay.workerctl.McpDiscoveryResponse;
import org.nemorelay.workerctl.McpServerInfo;
import org.nemorelay.workerctl.McpToolRequest;
import org.nemorelay.workerctl.McpToolResponse;

/** Calls of tools of MCP servers, as a frontend makes them (distributed-seams 6). */
class AgentCallsTest {
    private final FakeBus bus = new FakeBus();

    private AgentCalls calls(String... urls) {
        return new AgentCalls(new McpSessions(List.of("sh"), List.of(urls)));
    }

    private static McpToolRequest request(String tool, Map<String, Object> remote, Map<String, Object> stdio) {
        return new McpToolRequest("m", tool, Json.object("a", 1, "b", 2), remote, stdio);
    }

    private McpToolResponse run(String tool, String script) {
        return calls().executeTool(Context.background(), request(tool, Map.of(), FakeMcp.stdio(script)));
    }

    /** Servers of the test before may still be ending. */
    @BeforeEach
    void alone() {
        Await.until("no process is left", () -> children() == 0);
    }

    private static long children() {
        return ProcessHandle.current().children().count();
    }

    @Test
    void aToolIsRunAndItsTextsAreTheResult() {
        assertEquals(new McpToolResponse("sum\n3", ""), run("add", FakeMcp.SCRIPT));
        Await.until("its server has ended", () -> children() == 0);
    }

    @Test
    void everyFailureIsAnAnswer() {
        assertEquals(
                "tool fail of calc failed: out of order",
                run("fail", FakeMcp.SCRIPT).error());
        assertEquals(
                "no MCP server of model m offers tool other",
                run("other", FakeMcp.SCRIPT).error());
        assertEquals(
                "session error: calc has ended: no licence",
                run("add", "echo no licence >&2; exit 3").error());
        assertTrue(run("add", "echo nonsense; exec sleep 100").error().startsWith("session error: calc has ended"));
        assertTrue(run("add", "while read -r line; do echo '{\"id\":1,\"error\":{\"message\":\"no\"}}'; done")
                .error()
                .equals("session error: calc refuses initialize: no"));
        assertTrue(run("add", "read -r line; echo '{\"id\":1,\"result\":[]}'; exec sleep 100")
                .error()
                .startsWith("session error: calc answers initialize with something else"));
        McpToolResponse unread =
                calls().executeTool(Context.background(), request("add", Map.of(), Json.object("mcpServers", 1)));
        assertTrue(unread.error().startsWith("session error: the MCP servers are not understood"), unread.error());
    }

    /** Whoever fills a queue must not choose what this machine runs or reaches. */
    @Test
    void onlyWhatTheAdministratorAllowsIsUsed() {
        AgentCalls none = new AgentCalls(new McpSessions(List.of(), List.of("https://tools.example/")));
        McpToolResponse program =
                none.executeTool(Context.background(), request("add", Map.of(), FakeMcp.stdio(FakeMcp.SCRIPT)));
        assertTrue(program.error().contains("[agent_worker] mcp_commands"), program.error());
        McpToolResponse url = none.executeTool(
                Context.background(),
                request("add", Json.object("web", Json.object("url", "http://169.254.0.1/mcp")), Map.of()));
        assertTrue(url.error().contains("[agent_worker] mcp_urls"), url.error());
    }

    @Test
    void theDeadlineOfACallHolds() {
        try {
            calls().executeTool(
                            Context.background().withTimeout(Duration.ofMillis(300)),
                            request("add", Map.of(), FakeMcp.stdio("exec sleep 100")));
            throw new AssertionError("it answered");
        } catch (TimedOutException e) {
            assertTrue(e.getMessage().contains("initialize at MCP server calc"), e.getMessage());
        }
        Await.until("its server has ended", () -> children() == 0);
    }

    @Test
    void aStoppedModelsSessionsEnd() throws InterruptedException {
        AgentCalls calls = calls();
        List<McpToolResponse> answers = new CopyOnWriteArrayList<>();
        Thread call = Thread.ofVirtual()
                .start(() -> answers.add(calls.executeTool(
                        Context.background(),
                        request(
                                "add",
                                Map.of(),
                                FakeMcp.stdio(FakeMcp.SCRIPT.replace(
                                        "result='{\"content\":[{\"type\":\"text\",\"text\":\"sum\"}",
                                        "exec sleep 100; : '"))))));
        Await.until("it runs", () -> children() > 0);
        calls.backendStopped("another");
        assertTrue(call.isAlive());
        Await.until("it is stopped", () -> {
            calls.backendStopped("m");
            return !call.isAlive();
        });
        call.join();
        assertFalse(answers.getFirst().error().isEmpty());
    }

    @Test
    void discoveryTellsOfEachServerAndItsFailureInItsPlace() {
        McpDiscoveryResponse response = calls().discoverTools(
                        Context.background(),
                        new McpDiscoveryRequest(
                                "m",
                                Json.object("web", Json.object("url", "https://nobody.example/mcp")),
                                Json.object(
                                        "calc", FakeMcp.server(FakeMcp.SCRIPT),
                                        "dead", FakeMcp.server("exit 1"))));
        assertEquals("", response.error());
        Map<String, McpServerInfo> servers = new java.util.TreeMap<>();
        response.servers().forEach(server -> servers.put(server.name(), server));
        assertEquals(
                new McpServerInfo("calc", "stdio", List.of("add", "fail"), List.of("greet"), List.of(), ""),
                servers.get("calc"));
        assertTrue(
                servers.get("dead").error().startsWith("session error: "),
                servers.get("dead").error());
        assertEquals("remote", servers.get("web").type());
        assertEquals(
                List.of("add", "fail"),
                response.tools().stream().map(tool -> tool.toolName()).toList());
        assertEquals("adds", response.tools().getFirst().function().get("description"));
        assertTrue(calls().discoverTools(
                        Context.background(), new McpDiscoveryRequest("m", Map.of(), Json.object("mcpServers", 1)))
                .error()
                .startsWith("discovery error: "));
    }

    /** The whole way: frontend's half, bus, worker's half, server. */
    @Test
    void aFrontendsCallReachesTheServer() {
        bus.agentRpcServer().serve("n", calls());
        McpToolResponse response = bus.agentControl()
                .executeTool(Context.background(), request("add", Map.of(), FakeMcp.stdio(FakeMcp.SCRIPT)));
        assertEquals("sum\n3", response.result());
    }

    // ---- over HTTP

    private final List<String> seen = new CopyOnWriteArrayList<>();

    private HttpServer web(boolean stream) throws IOException {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/mcp", exchange -> {
            seen.add(exchange.getRequestMethod() + " "
                    + exchange.getRequestHeaders().getFirst("Authorization") + " "
                    + Optional.ofNullable(exchange.getRequestHeaders().getFirst("Mcp-Session-Id"))
                            .orElse("-"));
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (body.length == 0) {
                exchange.sendResponseHeaders(204, -1);
            } else {
                answer(exchange, Json.parseObject(body), stream);
            }
            exchange.close();
        });
        server.start();
        return server;
    }

    private static void answer(HttpExchange exchange, JsonObject request, boolean stream) throws IOException {
        if (!request.has("id")) {
            exchange.sendResponseHeaders(202, -1);
            return;
        }
        String result = switch (request.string("method")) {
            case "initialize" -> "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}}}";
            case "tools/list" -> "{\"tools\":[{\"name\":\"add\"}]}";
            case "tools/call" -> "{\"content\":[{\"type\":\"text\",\"text\":\"from afar\"}]}";
            default -> "{}";
        };
        String message = "{\"jsonrpc\":\"2.0\",\"id\":" + request.values().get("id") + ",\"result\":" + result + "}";
        exchange.getResponseHeaders().set("Mcp-Session-Id", "s-1");
        exchange.getResponseHeaders().set("Content-Type", stream ? "text/event-stream" : "application/json");
        byte[] bytes = (stream
                        ? "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n\ndata: "
                                + message + "\n\n"
                        : message)
                .getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(200, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    @Test
    void aServerAtAUrlAnswersWithJsonOrAnEvent() throws IOException {
        for (boolean stream : new boolean[] {false, true}) {
            seen.clear();
            HttpServer server = web(stream);
            String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/mcp";
            McpToolResponse response = calls(url)
                    .executeTool(
                            Context.background(),
                            request("add", Json.object("web", Json.object("url", url, "token", "t")), Map.of()));
            assertEquals(new McpToolResponse("from afar", ""), response);
            assertEquals("POST Bearer t -", seen.getFirst());
            assertEquals("DELETE Bearer t s-1", seen.getLast(), "the session is ended");
            assertEquals(5, seen.size());
            server.stop(0);
            McpToolResponse gone = calls(url)
                    .executeTool(
                            Context.background(),
                            request("add", Json.object("web", Json.object("url", url)), Map.of()));
            assertTrue(gone.error().startsWith("session error: web does not answer initialize"), gone.error());
        }
    }

    @Test
    void aCallThatIsCancelledLeavesItsServer() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        CountDownLatch asked = new CountDownLatch(1);
        server.createContext("/mcp", exchange -> asked.countDown());
        server.start();
        String url = "http://127.0.0.1:" + server.getAddress().getPort() + "/mcp";
        List<Throwable> thrown = new CopyOnWriteArrayList<>();
        try (Context.Cancellable context = Context.background().cancellable()) {
            Thread call = Thread.ofVirtual().start(() -> {
                try {
                    calls(url)
                            .executeTool(
                                    context, request("add", Json.object("web", Json.object("url", url)), Map.of()));
                } catch (RuntimeException e) {
                    thrown.add(e);
                }
            });
            Await.latch(asked);
            context.cancel();
            Await.until("it is left", () -> !call.isAlive());
        }
        assertEquals(
                List.of("CancelledException"),
                thrown.stream().map(one -> one.getClass().getSimpleName()).toList());
        server.stop(0);
    }
}
