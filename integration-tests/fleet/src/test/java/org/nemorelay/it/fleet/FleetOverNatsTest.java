package org.nemorelay.it.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.Proc;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** One fleet through its day: answers, jobs, a change of carriers under traffic, and the loss of a node. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class FleetOverNatsTest {
    private static final int DELAY_MS = 20;

    @TempDir
    static Path folder;

    private static Fleet fleet;
    private static PrivateTree tree;
    private static final List<Proc> nodes = new ArrayList<>();
    /** Frontend and agent worker. */
    private static final List<Proc> others = new ArrayList<>();

    @BeforeAll
    static void start() throws IOException {
        tree = PrivateTree.below(folder);
        fleet = new Fleet(folder, new NatsServer(), tree.program());
        others.add(fleet.frontend(""));
        nodes.add(fleet.node("one", DELAY_MS));
        nodes.add(fleet.node("two", DELAY_MS));
    }

    @AfterAll
    static void stop() throws IOException {
        if (fleet != null) {
            fleet.close();
            tree.close();
        }
    }

    @Test
    @Order(1)
    void modelsAreListed() {
        JsonObject list = fleet.get("/v1/models").json();
        assertEquals("list", list.string("object"));
        assertEquals(Fleet.MODEL, list.objects("data").getFirst().string("id"));
    }

    @Test
    @Order(2)
    void anAnswerComesWholeOrInPieces() {
        assertEquals("one two three", fleet.answer("one two three"));
        String stream = fleet.post("/v1/chat/completions", Fleet.chat("grüß dich", true))
                .text();
        List<JsonObject> events = events(stream);
        assertEquals("assistant", delta(events.getFirst()).string("role"));
        StringBuilder text = new StringBuilder();
        events.forEach(
                event -> text.append(delta(event).optionalString("content").orElse("")));
        assertEquals("grüß dich", text.toString());
        assertEquals("stop", events.getLast().objects("choices").getFirst().string("finish_reason"));
        assertTrue(stream.endsWith("data: [DONE]\n\n"), stream);
    }

    private static JsonObject delta(JsonObject event) {
        return event.objects("choices").getFirst().object("delta");
    }

    static List<JsonObject> events(String stream) {
        return stream.lines()
                .filter(line -> line.startsWith("data: {"))
                .map(line -> Json.parseObject(line.substring(6)))
                .toList();
    }

    @Test
    @Order(3)
    void badRequestsAreTold() {
        for (String body : List.of(
                "", "[]", "{", "{\"model\":\"" + Fleet.MODEL + "\"}", """
                {"model": 1, "messages": [{"role": "user", "content": "x"}]}""", """
                {"model": "%s", "messages": []}""".formatted(Fleet.MODEL), """
                {"model": "%s", "messages": [{"role": "user", "content": [{"type": "image_url"}]}]}""".formatted(
                                Fleet.MODEL))) {
            Fleet.Answer answer = fleet.http("POST", "/v1/chat/completions", body.isEmpty() ? " " : body, "");
            assertEquals(400, answer.status(), body + ": " + answer.text());
            assertFalse(answer.json().object("error").string("message").isEmpty());
        }
        assertEquals(
                404,
                fleet.post(
                                "/v1/chat/completions",
                                Json.object(
                                        "model",
                                        "nobody's",
                                        "messages",
                                        List.of(Json.object("role", "user", "content", "x"))))
                        .status());
        assertEquals(404, fleet.get("/v1/nothing").status());
        for (String body :
                List.of("{}", "{\"name\":\"\"}", "{\"name\":\"x\",\"node_type\":\"y\"}", "{\"name\":\"x\"}")) {
            assertEquals(400, fleet.http("POST", "/api/node/register", body, "").status(), body);
        }
        assertEquals(
                404, fleet.http("POST", "/api/node/nobody/heartbeat", "{}", "").status());
    }

    @Test
    @Order(4)
    void jobsRunOnAnAgentWorkerAndTellWhatCameOfThem() {
        others.add(fleet.agentWorker("helper"));
        // A job that is put into its queue before the worker's link is there is nobody's.
        Await.until(fleet::transcripts, Fleet.LIMIT, () -> {
            String first = job(Json.object("model", Fleet.MODEL, "prompt", "are you there"));
            for (int i = 0; i < 100; i++) {
                if (job(first).string("status").equals("completed")) {
                    return true;
                }
                Thread.sleep(20);
            }
            return false;
        });
        String done = job(Json.object("model", Fleet.MODEL, "prompt", "do this", "mcp", McpScript.table()));
        assertEquals("do this", ended(done).string("result"));
        String task = job(Json.object("model", Fleet.MODEL, "prompt", "and that"));
        assertEquals("and that", ended(task).string("result"));
        String called = job(
                Json.object("model", Fleet.MODEL, "prompt", "/call add {\"a\":1,\"b\":2}", "mcp", McpScript.table()));
        assertEquals("the sum is 3", ended(called).string("result"), "what the tool of an MCP server said");
        JsonObject failed = ended(job(Json.object("model", "nobody's", "prompt", "x", "mcp", McpScript.table())));
        assertEquals("failed", failed.string("status"));
        assertTrue(failed.string("error").contains("nobody's"), failed.values().toString());
        assertEquals(
                202,
                fleet.post("/api/agents/clerk/chat", Json.object("model", Fleet.MODEL, "message", "hello"))
                        .status());
    }

    private static String job(Map<String, Object> body) {
        Fleet.Answer answer = fleet.post("/api/jobs", body);
        assertEquals(202, answer.status(), answer.text());
        return answer.json().string("job_id");
    }

    private static JsonObject job(String id) {
        return fleet.get("/api/jobs/" + id).json();
    }

    private static JsonObject ended(String id) {
        return Await.value(fleet::transcripts, Fleet.LIMIT, () -> {
            JsonObject job = job(id);
            return List.of("completed", "failed").contains(job.string("status")) ? job : null;
        });
    }

    @Test
    @Order(5)
    void b22TheCarrierOfEachProcessIsChangedWhileAnswersFlow() throws Exception {
        Traffic traffic = new Traffic();
        String words = "word ".repeat(100).strip();
        try (Stream stream = new Stream(fleet.port(), Fleet.chat(words, true))) {
            stream.awaitEvents(2);
            changeEach();
            // A stream that began before goes on, and to its end.
            assertWhole(words, stream.toEnd());
        }
        traffic.end();
        Proc.Result list =
                fleet.command("carriers", "list", "--process", "node-one").run(Fleet.LIMIT);
        assertTrue(list.stdout().contains("spare"), list.toString());
        assertEquals(0, list.exit());
    }

    private static void assertWhole(String words, String end) {
        assertTrue(end.contains("data: [DONE]"), end.substring(Math.max(0, end.length() - 500)));
        StringBuilder text = new StringBuilder();
        events(end)
                .forEach(event ->
                        text.append(delta(event).optionalString("content").orElse("")));
        assertEquals(words, text.toString());
    }

    /** Answers and jobs, one after the other, until it is ended. */
    private static final class Traffic {
        private final List<String> wrong = new CopyOnWriteArrayList<>();
        private final AtomicInteger done = new AtomicInteger();
        private final Thread thread = Thread.ofPlatform().start(this::run);
        private volatile boolean ending;

        private void run() {
            try {
                for (int i = 0; !ending; i++) {
                    String answer = fleet.answer("request number " + i);
                    if (!answer.equals("request number " + i)) {
                        wrong.add(answer);
                    }
                    String job = job(Json.object("model", Fleet.MODEL, "prompt", "job " + i));
                    if (!ended(job).string("result").equals("job " + i)) {
                        wrong.add(job);
                    }
                    done.incrementAndGet();
                }
            } catch (Throwable thrown) {
                wrong.add(thrown.toString());
            }
        }

        /** Goes on for a while, then tells what was not as it should be. */
        private void end() throws InterruptedException {
            int before = done.get();
            Await.until("traffic goes on", Fleet.LIMIT, () -> done.get() >= before + 2 || !wrong.isEmpty());
            ending = true;
            thread.join();
            assertEquals(List.of(), wrong, fleet.transcripts());
        }
    }

    private static void changeEach() {
        for (String process : List.of("frontend-" + fleet.port(), "node-one", "node-two", "agent-worker-helper")) {
            JsonObject before = carriers("status", process);
            assertEquals("main", before.string("current"));
            JsonObject after = carriers("use", process, "spare");
            assertEquals("spare", after.string("current"));
            assertEquals(2, after.integer("switches", 0, 100));
        }
    }

    private static JsonObject carriers(String verb, String process, String... more) {
        Proc.Spec spec =
                fleet.command("carriers", verb, "--process", process, "--json").command(more);
        Proc.Result result = spec.run(Fleet.LIMIT);
        assertEquals(0, result.exit(), result + fleet.transcripts());
        return Json.parseObject(result.stdout());
    }

    @Test
    @Order(6)
    void aCarrierThatIsNotThereIsRefusedAndNothingChanges() {
        Proc.Result result = fleet.command("carriers", "use", "nowhere", "--process", "node-one")
                .run(Fleet.LIMIT);
        assertEquals(1, result.exit());
        assertTrue(result.stderr().contains("there is no carrier nowhere"), result.stderr());
        Proc.Result several = fleet.command("carriers", "status").run(Fleet.LIMIT);
        assertEquals(1, several.exit());
        assertTrue(several.stderr().contains("--process"), several.stderr());
        assertEquals(2, fleet.command("carriers", "use").run(Fleet.LIMIT).exit());
        assertEquals("spare", carriers("status", "node-one").string("current"));
    }

    /** An administrator updates carriers' bundles in the running processes. */
    @Test
    @Order(7)
    void b22TheFilesOfCarriersAreReplacedWhileAnswersFlow() throws Exception {
        List<Proc> processes = new ArrayList<>(others);
        processes.addAll(nodes);
        Traffic traffic = new Traffic();
        String words = "word ".repeat(400).strip();
        try (Stream stream = new Stream(fleet.port(), Fleet.chat(words, true))) {
            stream.awaitEvents(2);
            for (String carrier : List.of("nats", "direct")) {
                tree.replace(carrier, "0.1.1");
                for (Proc process : processes) {
                    Await.until(
                            () -> carrier + " is updated\n" + process.transcript(),
                            Fleet.LIMIT,
                            () -> process.stderr()
                                    .contains("carrier org.nemorelay.carrier." + carrier + " 0.1.1 runs from"));
                }
            }
            assertWhole(words, stream.toEnd());
        }
        traffic.end();
        // Written into, and no bundle at all: what runs is kept.
        Files.writeString(tree.carrier("nats"), "nonsense");
        for (Proc process : processes) {
            Await.until(
                    () -> "the file is refused\n" + process.transcript(),
                    Fleet.LIMIT,
                    () -> process.stderr().contains("what runs is kept"));
        }
        assertEquals("still here", fleet.answer("still here"));
        assertEquals("spare", carriers("status", "node-one").string("current"));
    }

    @Test
    @Order(8)
    void silenceAloneChangesNothingAboutANode() {
        String before = fleet.node("two").string("last_heartbeat");
        nodes.get(1).signal("STOP");
        // Ten heartbeats that do not come.
        Await.until("one goes on", Fleet.LIMIT, () -> {
            long beats = java.time.Duration.between(
                            java.time.Instant.parse(before),
                            java.time.Instant.parse(fleet.node("one").string("last_heartbeat")))
                    .toMillis();
            return beats > 3_000;
        });
        assertEquals("healthy", fleet.status("two"));
        assertTrue(java.time.Instant.parse(fleet.node("two").string("last_heartbeat"))
                .isBefore(java.time.Instant.parse(fleet.node("one").string("last_heartbeat"))));
        nodes.get(1).signal("CONT");
        Await.until(
                "two is heard again",
                Fleet.LIMIT,
                () -> !fleet.node("two").string("last_heartbeat").equals(before));
        assertEquals("healthy", fleet.status("two"));
    }

    @Test
    @Order(9)
    void aNodeKilledWithinAStreamEndsItClearlyAndTheNextRequestTakesTheOtherNode() throws Exception {
        String words = "word ".repeat(2_000).strip();
        try (Stream stream = new Stream(fleet.port(), Fleet.chat(words, true))) {
            stream.awaitEvents(5);
            Proc serving = serving();
            serving.close();
            String end = stream.toEnd();
            JsonObject last = events(end).getLast();
            assertTrue(last.has("error"), end.substring(Math.max(0, end.length() - 500)));
            assertTrue(
                    last.object("error").string("message").contains("broke off"),
                    last.values().toString());
            assertFalse(end.contains("[DONE]"));
            String gone = serving == nodes.get(0) ? "one" : "two";
            long begun = System.nanoTime();
            assertEquals("still here", fleet.answer("still here"));
            assertTrue(Duration.ofNanos(System.nanoTime() - begun).toSeconds() < 30);
            assertEquals("healthy", fleet.status(gone), "a broken connection is no verdict about the node");
            for (int i = 0; i < 5; i++) {
                assertEquals("and again " + i, fleet.answer("and again " + i));
            }
        }
    }

    /** The node whose backend runs the slow stream. */
    private static Proc serving() {
        List<Proc> busy = new ArrayList<>();
        Await.until("a node is busy", Fleet.LIMIT, () -> {
            busy.clear();
            for (int i = 0; i < nodes.size(); i++) {
                String name = i == 0 ? "one" : "two";
                if (fleet.node(name).integer("in_flight", 0, 1_000) > 0) {
                    busy.add(nodes.get(i));
                }
            }
            return busy.size() == 1;
        });
        assertNotEquals(List.of(), busy);
        return busy.getFirst();
    }
}
