package org.nemorelay.agents.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.nemorelay.agents.internal.mcp.McpSessions;
import org.nemorelay.fleet.JobEvent;
import org.nemorelay.fleet.JobProgress;
import org.nemorelay.fleet.JobResult;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.seams.CancelRegistry;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.testkit.Recorder;

/** A CI job: the model calls tools of its MCP servers, and everything is told through the delivery's own publisher. */
class ToolJobTest {
    private final List<Message> sent = new CopyOnWriteArrayList<>();
    private final List<List<Map<String, Object>>> asked = new ArrayList<>();

    private JobResult run(Map<String, Object> mcp, Function<Integer, Chat.Turn> turns) {
        JsonObject task = JsonObject.of(Json.object("model", "m", "prompt", "add up"), "task");
        byte[] payload = new JobEvent(
                        "j",
                        "t",
                        "",
                        Optional.of(task),
                        Optional.of(task),
                        Optional.of(JsonObject.of(Json.object("mcp", mcp), "model_config")))
                .encode();
        new JobRunner(
                        (context, model, messages, tools) -> {
                            asked.add(List.copyOf(messages));
                            assertEquals(2, tools.size());
                            return turns.apply(asked.size());
                        },
                        Optional.of(new McpSessions(List.of("sh"), List.of())),
                        java.time.Duration.ofMinutes(1),
                        new CancelRegistry(),
                        new Recorder())
                .handle(Context.background(), payload, sent::add);
        return sent.stream()
                .filter(message -> message.subject().endsWith(".result"))
                .map(message -> JobResult.decode(message.body()))
                .findFirst()
                .orElseThrow();
    }

    private static Chat.Turn calls(String name, String arguments) {
        return new Chat.Turn("", List.of(new Chat.Call("c1", name, arguments)));
    }

    private List<String> traces() {
        return sent.stream()
                .filter(message -> message.subject().endsWith(".progress"))
                .map(message -> JobProgress.decode(message.body()))
                .filter(progress -> !progress.traceType().isEmpty())
                .map(progress -> progress.traceType() + " " + progress.traceContent())
                .toList();
    }

    @Test
    void theModelGetsWhatItsToolsSay() {
        JobResult result = run(
                FakeMcp.table(), turn -> turn == 1 ? calls("add", "{\"a\":1,\"b\":2}") : Chat.Turn.of("it is three"));
        assertEquals(new JobResult("j", JobResult.COMPLETED, "it is three", ""), result);
        Map<String, Object> said = asked.get(1).getLast();
        assertEquals("tool", said.get("role"));
        assertEquals("c1", said.get("tool_call_id"));
        assertEquals("sum\n3", said.get("content"));
        assertEquals(
                List.of(
                        "tool_call {\"name\":\"add\",\"arguments\":\"{\\\"a\\\":1,\\\"b\\\":2}\"}",
                        "tool_result {\"name\":\"add\",\"result\":\"sum\\n3\"}"),
                traces());
    }

    @Test
    void aToolThatFailsIsForTheModelToDealWith() {
        List<Chat.Turn> turns = List.of(
                calls("fail", ""), calls("nothing", "{}"), calls("add", "[]"), calls("add", "{"), Chat.Turn.of("done"));
        assertEquals("done", run(FakeMcp.table(), turn -> turns.get(turn - 1)).result());
        assertEquals(
                "error: tool fail of calc failed: out of order",
                asked.get(1).getLast().get("content"));
        assertEquals("error: there is no tool nothing", asked.get(2).getLast().get("content"));
        for (int i = 3; i <= 4; i++) {
            String said = (String) asked.get(i).getLast().get("content");
            assertTrue(said.startsWith("error: the arguments are no JSON object"), said);
        }
    }

    @Test
    void aModelThatNeverEndsFailsTheJob() {
        JobResult result = run(FakeMcp.table(), turn -> calls("fail", ""));
        assertEquals(JobResult.FAILED, result.status());
        assertTrue(result.error().startsWith("execution error: "), result.error());
    }

    @Test
    void serversThatCannotBeUsedFailTheJob() {
        assertEquals(
                "session error: calc has ended: no licence",
                run(Json.object("stdio", FakeMcp.stdio("echo no licence >&2; exit 3")), turn -> Chat.Turn.of(""))
                        .error());
        sent.clear();
        JobResult unread = run(Json.object("stdio", "{"), turn -> Chat.Turn.of(""));
        assertTrue(unread.error().startsWith("parse error: "), unread.error());
        sent.clear();
        assertEquals(
                "no MCP servers are configured for the model",
                run(
                                Json.object("stdio", "", "remote", Json.object("mcpServers", Json.object())),
                                turn -> Chat.Turn.of(""))
                        .error());
        assertEquals(List.of(), asked);
    }

    /** As LocalAI's model configurations have it: each table is a text of JSON. */
    @Test
    void tablesMayBeTexts() {
        String text = new String(
                Json.write(FakeMcp.stdio(FakeMcp.SCRIPT)).getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
        assertEquals(
                "hello",
                run(Json.object("stdio", text, "remote", ""), turn -> Chat.Turn.of("hello"))
                        .result());
    }
}
