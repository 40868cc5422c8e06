package org.nemorelay.it.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Events;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.json.JsonObject;

/** Real sessions through the relay, from the prompt to the last process. */
class SessionTest {
    private static final Duration RUN = Duration.ofSeconds(60);
    private static final String TEXT = "MOCK-FINAL-TEXT";
    private static final String LIFECYCLE_CLIENT = "org.nemorelay.mcp.McpMain";
    private static final String SAID = "relay-says-hi";

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource
    void throughAReadyWorker(Harness harness) {
        try (Bench bench = bench(harness)) {
            try (McpSession held = McpSession.initialized(bench.user, bench.executable, bench.relay)) {
                bench.relay.awaitReadyWorker(held);
                Proc.Result run = harness.session(bench).run(RUN);
                assertEquals(0, run.exit(), run.toString());
                harness.shows(TEXT, run);

                assertEquals(List.of(), bench.pastTheWorker.received());
                List<MockProvider.Received> requests = bench.behindTheWorker.received(harness.path);
                assertEquals(2, requests.size());
                assertTrue(requests.getLast().bodyText().contains(SAID));
                for (MockProvider.Received request : requests) {
                    assertEquals(List.of(Harness.KEY), harness.credential(request));
                    assertEquals(List.of(), request.header("x-nemo-relay-client-token"));
                }
                recorded(harness, bench);
                assertEquals(0, held.end());
            }
            bench.awaitNothingLeft();
        }
    }

    /** Requests, the tool call and the turn, all of one session. */
    private static void recorded(Harness harness, Bench bench) {
        String session = Events.await(bench.events, "turn end", Events.scope(harness.agent + "-turn", "end"))
                .object("metadata")
                .string("session_id");
        for (String edge : List.of("start", "end")) {
            for (String scope : List.of(harness.api, harness.shell)) {
                JsonObject event = Events.await(bench.events, scope + " " + edge, Events.scope(scope, edge));
                assertEquals(session, event.object("metadata").string("session_id"));
            }
        }
        assertEquals(
                2,
                Events.in(bench.events).stream()
                        .filter(Events.scope(harness.api, "end"))
                        .count());
    }

    @ParameterizedTest
    @EnumSource
    void aloneAndCold(Harness harness) {
        try (Bench bench = bench(harness)) {
            Proc.Result run = harness.session(bench).run(RUN);
            assertEquals(0, run.exit(), run.toString());
            harness.shows(TEXT, run);
            assertEquals(
                    2,
                    bench.pastTheWorker.received(harness.path).size()
                            + bench.behindTheWorker.received(harness.path).size());
            bench.awaitNothingLeft();
        }
    }

    @ParameterizedTest
    @EnumSource
    void interruptedInTheMiddleOfARequest(Harness harness) {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        try (Bench bench = bench(harness).respond(harness, silent(asked, release))) {
            try (Proc run = harness.session(bench).start()) {
                run.closeInput();
                Await.until(() -> "the provider was asked\n" + run.transcript(), RUN, () -> asked.getCount() == 0);
                assertEquals(
                        1,
                        bench.processes().stream()
                                .filter(process -> process.arguments().contains(LIFECYCLE_CLIENT))
                                .count());
                run.signal("INT");
                run.awaitExit(Duration.ofSeconds(10));
            }
            bench.awaitNothingLeft();
            release.countDown();
        }
    }

    /**
     * Codex gives its MCP server a few variables of its own choosing and its hooks all of them: the token is found in the
     * user's file by both, and a session that requires the relay begins.
     */
    @Test
    void codexRequiresItAndHandsItNothing() {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        try (Bench bench = bench(Harness.CODEX)) {
            MockProvider.Responder answer = Harness.CODEX.toolThenText("echo " + SAID, TEXT);
            bench.respond(Harness.CODEX, (request, reply) -> {
                asked.countDown();
                release.await();
                answer.respond(request, reply);
            });
            bench.file(".config/nemo-relay/.client-token", bench.user.token() + "\n");
            Proc.Spec codex = Harness.codex(bench, "required = true\nstartup_timeout_sec = 30")
                    .env(
                            "XDG_CONFIG_HOME",
                            bench.user.home().resolve("elsewhere").toString());
            try (McpSession held = McpSession.initialized(bench.user, bench.executable, bench.relay);
                    Proc run = codex.start()) {
                bench.relay.awaitReadyWorker(held);
                run.closeInput();
                Await.until(() -> "the provider was asked\n" + run.transcript(), RUN, () -> asked.getCount() == 0);
                List<String> given = lifecycleClient(bench, run).environment();
                assertFalse(
                        given.stream().anyMatch(variable -> variable.contains(bench.user.token())), given::toString);
                assertFalse(
                        given.stream().anyMatch(variable -> variable.startsWith("XDG_CONFIG_HOME=")), given::toString);
                assertEquals(2, bench.relay.workers().getFirst().integer("reference_count", 0, 9));
                release.countDown();
                assertEquals(0, run.awaitExit(RUN), run::transcript);
                Harness.CODEX.shows(TEXT, new Proc.Result(0, run.stdout(), run.stderr()));
                recorded(Harness.CODEX, bench);
                assertEquals(0, held.end());
            }
            bench.awaitNothingLeft();
        }
    }

    /** Without a daemon such a session does not begin: no request leaves for the provider, and the user is told which server is at fault. */
    @Test
    void codexRequiresItAndNoDaemonIsThere() {
        try (Bench bench = bench(Harness.CODEX)) {
            bench.file(".config/nemo-relay/.client-token", bench.user.token() + "\n");
            bench.relay.process().signal("KILL");
            bench.relay.process().awaitExit(RUN);
            Proc.Result run = Harness.codex(bench, "required = true\nstartup_timeout_sec = 5")
                    .run(RUN);
            assertEquals(1, run.exit(), run.toString());
            String told = run.stdout() + run.stderr();
            assertTrue(told.contains("nemo-relay") && told.contains("timed out"), told);
            assertEquals(List.of(), bench.pastTheWorker.received());
            assertEquals(List.of(), bench.behindTheWorker.received());
            Await.until(
                    () -> "no process is left of " + bench.processes(),
                    Duration.ofSeconds(35),
                    () -> bench.processes().isEmpty());
        }
    }

    private static ProcessTable.Entry lifecycleClient(Bench bench, Proc harness) {
        return bench.processes().stream()
                .filter(process -> process.arguments().contains(LIFECYCLE_CLIENT))
                .filter(process -> ProcessHandle.of(process.pid())
                        .flatMap(ProcessHandle::parent)
                        .map(ProcessHandle::pid)
                        .orElse(0L)
                        .equals(harness.pid()))
                .findFirst()
                .orElseThrow(() -> new AssertionError("Codex runs no lifecycle client: " + bench.processes()));
    }

    private static MockProvider.Responder silent(CountDownLatch asked, CountDownLatch release) {
        return (request, reply) -> {
            asked.countDown();
            release.await();
        };
    }

    private Bench bench(Harness harness) {
        return new Bench(folder, "").respond(harness, harness.toolThenText("echo " + SAID, TEXT));
    }
}
