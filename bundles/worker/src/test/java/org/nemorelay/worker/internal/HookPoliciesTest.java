package org.nemorelay.worker.internal;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.http.Upstreams;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pipeline.Stages;
import org.nemorelay.plugin.api.ToolCall;
import org.nemorelay.pluginhost.Judgement;
import org.nemorelay.pluginhost.Judgement.Verdict;
import org.nemorelay.pluginhost.PolicyGate;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.worker.internal.hook.HookPayload;

/** What a hook is answered when policies have a say (plugins.md 4.3, 5), over real sockets. */
@Timeout(30)
final class HookPoliciesTest {
    private static final String REJECTED =
            "{\"error\":{\"message\":\"NeMo Relay runtime error: guardrail rejected: no Bash\","
                    + "\"reason\":\"no Bash\",\"type\":\"nemo_relay_guardrail_rejected\"}}";
    private static final String BASH = ",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"}}";
    private static final String READ = ",\"tool_name\":\"Read\",\"tool_use_id\":\"r\"}";

    private final HttpEngine engine = HttpEngine.create(Map.of());
    private final HttpClient client = HttpClient.newHttpClient();
    private final Admission admission = new Admission();
    private final List<ToolCall> asked = new CopyOnWriteArrayList<>();
    private final List<Ruling> rulings = new CopyOnWriteArrayList<>();
    private volatile CompletableFuture<Void> recorded = CompletableFuture.completedFuture(null);
    private HttpListener worker;

    @BeforeEach
    void start() throws Exception {
        Observation observation = new Observation() {
            @Override
            public CompletableFuture<Void> hook(HookPayload hook, int bytes, Ruling ruling) {
                rulings.add(ruling);
                return recorded;
            }

            @Override
            public ExchangeListener exchange(String path, Supplier<HttpFields> headers, Optional<byte[]> body) {
                return ExchangeListener.NONE;
            }

            @Override
            public void refused(String path, HttpFields headers, Optional<byte[]> body, List<Clearance.Check> checks) {}
        };
        Snapshot snapshot = new Snapshot(List.of(), List.of(new Gate()), Stages.NONE);
        DataPlane dataPlane = new DataPlane(
                admission,
                engine.forwarder(),
                new Upstreams(new Upstreams.Settings("http://127.0.0.1:1", "", "", "", ""), Map.of()),
                () -> snapshot,
                observation,
                new UpstreamFailureLog(new MemoryLog(), "worker", System::nanoTime),
                100_000,
                100_000,
                0);
        worker = engine.listen("127.0.0.1", 0, server -> dataPlane);
        admission.issued(new Secret("token"));
        assertEquals(204, send("GET", "/_nemo-relay/worker/v1/ready", "").get().statusCode());
    }

    @AfterEach
    void stop() {
        worker.close();
        engine.close();
        client.close();
    }

    private CompletableFuture<HttpResponse<String>> send(String method, String path, String body) {
        return send(method, path, body.getBytes(UTF_8));
    }

    private CompletableFuture<HttpResponse<String>> send(String method, String path, byte[] body) {
        return client.sendAsync(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + worker.port() + path))
                        .version(HttpClient.Version.HTTP_1_1)
                        .method(method, HttpRequest.BodyPublishers.ofByteArray(body))
                        .header("X-Nemo-Relay-Worker-Token", "token")
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private void answers(int status, String body, String agent, String payload) throws Exception {
        HttpResponse<String> answer = send("POST", "/hooks/" + agent, payload).get();
        assertEquals(status, answer.statusCode());
        assertEquals(body, answer.body());
        assertEquals(Optional.of("application/json"), answer.headers().firstValue("content-type"));
    }

    @Test
    void aDeniedCallIsRejected() throws Exception {
        answers(403, REJECTED, "claude-code", "{\"hook_event_name\":\"PreToolUse\"" + BASH);
        answers(403, REJECTED, "codex", "{\"hook_event_name\":\"PreToolUse\"" + BASH);
        answers(403, REJECTED, "pi", "{\"type\":\"tool_call\",\"toolName\":\"Bash\",\"toolCallId\":\"c\"}");
        String large = "{\"hook_event_name\":\"PreToolUse\",\"x\":\"" + "x".repeat(90_000) + "\"" + BASH;
        answers(403, REJECTED, "codex", large);
        assertEquals(
                List.of("no Bash", "no Bash", "no Bash", "no Bash"),
                rulings.stream().map(ruling -> ruling.denial().orElseThrow()).toList());
        Awaiting.await("nothing in flight", () -> admission.inFlight() == 0);
    }

    @Test
    void aDeniedPermissionIsToldInEachAgentsForm() throws Exception {
        String decision = "\"hookSpecificOutput\":{\"decision\":{\"behavior\":\"deny\",\"message\":\"no Bash\"},"
                + "\"hookEventName\":\"PermissionRequest\"}}";
        answers(
                200,
                "{\"continue\":true," + decision,
                "claude-code",
                "{\"hook_event_name\":\"PermissionRequest\"" + BASH);
        answers(200, "{" + decision, "codex", "{\"hook_event_name\":\"PermissionRequest\"" + BASH);
    }

    /** Only Claude Code can ask its user; whoever cannot be told to ask denies. */
    @Test
    void aQuestionIsToldInEachAgentsForm() throws Exception {
        String edit = ",\"tool_name\":\"Edit\",\"tool_input\":{}}";
        answers(
                200,
                "{\"continue\":true,\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\","
                        + "\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"sure?\"}}",
                "claude-code",
                "{\"hook_event_name\":\"PreToolUse\"" + edit);
        answers(200, "{\"continue\":true}", "claude-code", "{\"hook_event_name\":\"PermissionRequest\"" + edit);
        String denied = REJECTED.replace("no Bash", "sure?");
        answers(403, denied, "codex", "{\"hook_event_name\":\"PreToolUse\"" + edit);
        answers(403, denied, "pi", "{\"type\":\"tool_call\",\"toolName\":\"Edit\",\"toolCallId\":\"c\"}");
        answers(200, "{}", "codex", "{\"hook_event_name\":\"PermissionRequest\"" + edit);
    }

    @Test
    void whatIsAllowedIsAnsweredAsWithoutPolicies() throws Exception {
        answers(200, "{\"continue\":true}", "claude-code", "{\"hook_event_name\":\"PreToolUse\"" + READ);
        answers(200, "{\"continue\":true}", "claude-code", "{\"hook_event_name\":\"PermissionRequest\"" + READ);
        answers(200, "{}", "codex", "{\"hook_event_name\":\"PreToolUse\"" + READ);
        answers(200, "{}", "pi", "{\"type\":\"user_bash\",\"command\":\"ls\",\"cwd\":\"/\"}");
        assertEquals(
                List.of(
                        "claude-code PreToolUse Read r",
                        "claude-code PermissionRequest Read r",
                        "codex PreToolUse Read r",
                        "pi user_bash user_bash "),
                asked.stream().map(ToolCall::toString).toList());
        assertEquals(
                Map.of("command", "ls", "cwd", "/"), asked.getLast().arguments().values());
        assertEquals("/", asked.getLast().payload().string("cwd"));
    }

    @Test
    void otherHooksAreNotAskedAbout() throws Exception {
        answers(200, "{}", "codex", "{\"hook_event_name\":\"PostToolUse\"" + BASH);
        answers(200, "{}", "codex", "{\"hook_event_name\":\"SessionStart\"}");
        answers(200, "{}", "codex", "{\"hook_event_name\":\"Stop\",\"last_assistant_message\":\"x\"}");
        answers(200, "{\"continue\":true}", "claude-code", "{\"hook_event_name\":\"PostToolBatch\",\"tool_calls\":[]}");
        answers(200, "{}", "pi", "{\"type\":\"tool_execution_end\",\"toolName\":\"Bash\"}");
        answers(200, "{\"continue\":true}", "claude-code", "{\"hook_event_name\":\"OfALaterVersion\",\"x\":1}");
        assertEquals(List.of(), asked);
        assertEquals(Collections.nCopies(6, Ruling.NONE), rulings);
    }

    /** The gate here would allow whatever these may mean. What cannot be read cannot be allowed. */
    @ParameterizedTest
    @ValueSource(strings = {"claude-code", "codex", "pi"})
    void whatNoPolicyCanReadIsDenied(String agent) throws Exception {
        String read = ",\"tool_name\":\"Read\"}";
        Map<String, String> hooks = new LinkedHashMap<>();
        hooks.put("", "cannot be read: empty text is not JSON");
        hooks.put("[]", "is no JSON object");
        hooks.put("\"PreToolUse\"", "is no JSON object");
        hooks.put("7", "is no JSON object");
        hooks.put("null", "is no JSON object");
        hooks.put("{}", "does not name its event");
        hooks.put("{\"Hook_Event_Name\":\"PreToolUse\"" + read, "does not name its event");
        hooks.put("{\"hook_event_name\":[\"PreToolUse\"],\"type\":\"Stop\"" + read, "does not name its event");
        hooks.put("{\"hook_event_name\":null,\"type\":\"Stop\"}", "does not name its event");
        hooks.put("{\"hook_event_name\":\" \"}", "does not name its event");
        hooks.put("{\"hook_event_name\":\"PreToolUse\"}", "does not name its tool");
        hooks.put("{\"hook_event_name\":\"pre_tool_use\",\"Tool_Name\":\"Read\"}", "does not name its tool");
        hooks.put("{\"hook_event_name\":\"PreToolUse\",\"tool_name\":7,\"name\":\"Read\"}", "does not name its tool");
        hooks.put("{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"\"}", "does not name its tool");
        hooks.put("{\"hook_event_name\":\"PreToolUse\",\"name\":\"Read\"}", "does not name its tool");
        hooks.put("{\"hook_event_name\":\"PreToolUse\",\"tool_input\":{\"name\":\"Read\"}}", "does not name its tool");
        hooks.put("{\"hook_event_name\":\"PreToolUse\",\"toolName\":\"Write\"" + read, "names several tools");
        hooks.put(
                "{\"hook_event_name\":\"PreToolUse\",\"tool_input\":{},\"input\":{\"a\":1}" + read,
                "gives its tool several arguments");
        String pre = "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Read\",";
        for (String two : List.of(
                "\"tool_input\":{},\"toolInput\":{\"a\":1}}",
                "\"input\":{},\"toolInput\":{\"a\":1}}",
                "\"toolInput\":{},\"Tool-Input\":{\"a\":1}}",
                "\"tool_input\":{},\"toolArgs\":{\"a\":1}}",
                "\"tool_input\":{},\"tool\":{\"input\":{\"a\":1}}}")) {
            hooks.put(pre + two, "gives its tool several arguments");
        }
        for (String two : List.of("\"Tool_Name\":\"Read\"}", "\"tool\":\"Bash\"}", "\"tool\":{\"name\":\"Bash\"}}")) {
            hooks.put(pre + two, "names several tools");
        }
        for (String two : List.of("hookEventName", "event_name", "Hook_Event_Name", "event", "type", "name")) {
            hooks.put("{\"hook_event_name\":\"Stop\",\"" + two + "\":\"PreToolUse\"" + read, "names several events");
        }
        hooks.put(pre + "\"hookEventName\":\"Stop\"}", "names several events");
        hooks.put("{\"hook_event_name\":\"Stop\",\"hookEventName\":7}", "names several events");
        hooks.put("{\"hookEventName\":\"PreToolUse\"" + read, "does not name its event");
        hooks.put("{\"hook_event_name\":\"OfALaterVersion\",\"toolName\":null}", "does not name its tool");
        hooks.put("{\"hook_event_name\":\"Pr\u0435ToolUse\",\"tool_input\":{}}", "does not name its tool");
        for (Map.Entry<String, String> hook : hooks.entrySet()) {
            answers(403, unreadable(hook.getValue()), agent, hook.getKey());
        }
        assertEquals(List.of(), asked);
        Awaiting.await("nothing in flight", () -> admission.inFlight() == 0);
    }

    /** Which of them an agent reads is not known here, so policies see what there is. */
    @ParameterizedTest
    @ValueSource(strings = {"claude-code", "codex", "pi"})
    void theSpellingOfAnotherAgentIsJudgedWithItsArguments(String agent) throws Exception {
        String call = "{\"hook_event_name\":\"PreToolUse\",\"toolName\":\"%s\",\"%s\":{\"file_path\":\"/a\"}}";
        for (String key : List.of("toolInput", "input", "args", "tool_input", "tool_arguments")) {
            assertEquals(
                    200,
                    send("POST", "/hooks/" + agent, call.formatted("Read", key))
                            .get()
                            .statusCode());
            assertEquals("Read", asked.getLast().tool());
            assertEquals(Map.of("file_path", "/a"), asked.getLast().arguments().values(), key);
            answers(403, REJECTED, agent, call.formatted("Bash", key));
        }
        String same = ",\"tool_input\":{\"a\":1},\"toolInput\":{\"a\":1},\"hookEventName\":\"pre_tool_use\"}";
        String twice = "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Read\",\"toolName\":\"Read\"" + same;
        assertEquals(200, send("POST", "/hooks/" + agent, twice).get().statusCode());
    }

    @Test
    void aCommandOfPisUserThatNamesAToolBesideIsDenied() throws Exception {
        String bash = "{\"type\":\"user_bash\",\"command\":\"ls\",";
        answers(403, unreadable("names several tools"), "pi", bash + "\"toolName\":\"bash\"}");
        answers(403, unreadable("gives its tool several arguments"), "pi", bash + "\"input\":{\"command\":\"rm\"}}");
    }

    @ParameterizedTest
    @ValueSource(strings = {"claude-code", "codex", "pi"})
    void whatIsNoJsonIsDenied(String agent) throws Exception {
        String deep = "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Read\",\"tool_input\":" + "[".repeat(40_000)
                + "]".repeat(40_000) + "}";
        for (String hook : List.of(
                "nope",
                "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_name\":\"Read\"}",
                "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Read\"} {}",
                "{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Read\"",
                deep,
                "x".repeat(100_001))) {
            HttpResponse<String> answer = send("POST", "/hooks/" + agent, hook).get();
            assertEquals(403, answer.statusCode());
            JsonObject error = Json.parseObject(answer.body()).object("error");
            assertEquals("nemo_relay_guardrail_rejected", error.string("type"));
            assertTrue(
                    error.string("reason").startsWith("the policy plugin \"gate\" cannot judge this hook, so it is"),
                    error.string("reason"));
        }
        assertEquals(List.of(), asked);
    }

    @Test
    void bytesThatAreNoTextAreDenied() throws Exception {
        byte[] hook = ("{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"R\u00ffad\"}").getBytes(ISO_8859_1);
        assertEquals(403, send("POST", "/hooks/pi", hook).get().statusCode());
    }

    /** An event that the agent is not known to have may be a gate of its next version. */
    @Test
    void anUnknownEventWithAToolIsAskedAbout() throws Exception {
        answers(403, REJECTED, "codex", "{\"hook_event_name\":\"BeforeToolRuns\"" + BASH);
        answers(403, REJECTED, "pi", "{\"type\":\"tool_result\",\"toolName\":\"Bash\"}");
        answers(200, "{}", "codex", "{\"hook_event_name\":\"BeforeToolRuns\"" + READ);
        answers(403, REJECTED, "claude-code", "{\"hook_event_name\":\"PRETOOLUSE\"" + BASH);
        answers(403, REJECTED, "claude-code", "{\"hook_event_name\":\"OfALaterVersion\"" + BASH);
    }

    /** The form of a permission is for an agent that is sure to have asked for one. */
    @Test
    void anUnreadablePermissionIsDeniedInTheAgentsForm() throws Exception {
        String decision = "\"hookSpecificOutput\":{\"decision\":{\"behavior\":\"deny\",\"message\":\"the policy plugin"
                + " \\\"gate\\\" cannot judge this hook, so it is denied: it does not name its tool\"},"
                + "\"hookEventName\":\"PermissionRequest\"}}";
        String hook = "{\"hook_event_name\":\"PermissionRequest\",\"tool_name\":{}}";
        answers(200, "{\"continue\":true," + decision, "claude-code", hook);
        answers(200, "{" + decision, "codex", hook);
        answers(
                403,
                unreadable("does not name its event"),
                "codex",
                "{\"hook_event_name\":1,\"event\":\"PermissionRequest\"" + READ);
    }

    private static String unreadable(String why) {
        String reason = "the policy plugin \\\"gate\\\" cannot judge this hook, so it is denied: it " + why;
        return REJECTED.replace("no Bash", reason);
    }

    @Test
    void anAnswerWaitsForItsRecord() throws Exception {
        recorded = new CompletableFuture<>();
        CompletableFuture<HttpResponse<String>> answer = send("POST", "/hooks/codex", "{\"hook_event_name\":\"Stop\"}");
        Awaiting.await("the hook is told", () -> rulings.size() == 1);
        assertFalse(answer.isDone());
        recorded.complete(null);
        assertEquals("{}", answer.get().body());
    }

    /** Denies Bash and asks about Edit, on a thread that is interrupted, as a plugin's may be. */
    private final class Gate implements PolicyGate {
        @Override
        public String plugin() {
            return "gate";
        }

        @Override
        public int priority() {
            return 0;
        }

        @Override
        public CompletableFuture<Judgement> judge(ToolCall call, long millis) {
            asked.add(call);
            Verdict verdict = switch (call.tool()) {
                case "Bash" -> new Verdict.Denied("no Bash");
                case "Edit" -> new Verdict.Asked("sure?");
                default -> new Verdict.Allowed();
            };
            return CompletableFuture.supplyAsync(() -> {
                Thread.currentThread().interrupt();
                return new Judgement(plugin(), Instant.EPOCH, Instant.EPOCH, verdict);
            });
        }
    }
}
