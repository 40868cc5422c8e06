package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;

/**
 * A worker that gets a signal while it streams, with requests that come all the time: none is refused or sent twice, the
 * stream ends whole, and a new worker serves when the old one has ended.
 */
@Timeout(180)
@Execution(ExecutionMode.CONCURRENT)
class WorkerLeavesTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String WORKERS = "/worker/v1/messages";
    private static final String PASSING = "/v1/messages";
    private static final String ID = "x-request-id";
    private static final int CLIENTS = 4;
    private static final long PACE_NANOS = 3_000_000;
    private static final int WHILE_DRAINING = 50;

    @TempDir
    Path folder;

    private final Map<String, Integer> answers = new ConcurrentHashMap<>();
    private final CountDownLatch finish = new CountDownLatch(1);
    private volatile boolean over;

    @Test
    void onSigtermNoRequestIsRefusedOrSentTwice() throws Exception {
        leave("TERM");
    }

    @Test
    @Tag("long")
    void onSigintNoRequestIsRefusedOrSentTwice() throws Exception {
        leave("INT");
    }

    private void leave(String signal) throws Exception {
        try (OneUser bench = new OneUser(folder, "", "/worker");
                Relay relay = bench.daemon();
                McpSession session = McpSession.initialized(bench.user, bench.executable, relay)) {
            answer(bench.provider);
            String old = relay.awaitReadyWorker(session);
            long pid = bench.workers().getFirst().pid();
            List<Thread> clients = new ArrayList<>();
            try (RawHttp stream = new RawHttp(relay.port(), PATIENCE)) {
                stream.send("POST", PASSING, "{}", bench.user.header(), "x-hold: yes");
                assertEquals(200, stream.head().status());
                stream.chunk();
                for (int i = 0; i < CLIENTS; i++) {
                    clients.add(Thread.ofPlatform().start(() -> ask(relay, bench.user.header())));
                }
                Await.until("requests go to the worker", PATIENCE, () -> count(bench, WORKERS) > CLIENTS);
                new ProcessBuilder("kill", "-" + signal, Long.toString(pid))
                        .start()
                        .waitFor();
                Await.until(
                        () -> "requests pass through\n" + answers.values(),
                        PATIENCE,
                        () -> count(bench, PASSING) >= WHILE_DRAINING);
                assertEquals(List.of(old + " draining"), workers(relay));
                String shown = bench.user
                        .withToken(bench.executable.toString(), "status", "--port", Integer.toString(relay.port()))
                        .run(PATIENCE)
                        .stdout();
                assertTrue(shown.contains("draining") && !shown.contains("ready"), shown);
                assertEquals(0, bench.bashHook(relay).exit());
                finish.countDown();
                String rest = "";
                for (byte[] chunk = stream.chunk(); chunk.length > 0; chunk = stream.chunk()) {
                    rest += new String(chunk, StandardCharsets.UTF_8);
                }
                assertTrue(rest.endsWith("data: last\n\n"), rest);
            }
            Await.until(
                    () -> "a new worker\n" + relay.process().transcript()
                            + session.process().transcript(),
                    PATIENCE,
                    () -> workers(relay).stream().anyMatch(line -> line.endsWith(" ready") && !line.contains(old)));
            assertNotEquals(pid, bench.workers().getFirst().pid());
            int before = count(bench, WORKERS);
            Await.until("requests go to the new worker", PATIENCE, () -> count(bench, WORKERS) > before + CLIENTS);
            over = true;
            for (Thread client : clients) {
                client.join();
            }
            String log = relay.process().stderr();
            assertTrue(log.contains("reason=worker_leaves"), log);
            assertTrue(log.contains("event=worker_removed") && log.contains("reason=drained"), log);
            assertFalse(log.contains("event=worker_failed"), "the wait for a lost worker\n" + log);
            assertEquals(Map.of(), refused());
            Map<String, Integer> submitted = submitted(bench.provider);
            answers.keySet().forEach(id -> assertEquals(1, submitted.get(id), id));
            assertEquals(answers.size(), submitted.size());
            assertEquals(0, session.end());
            bench.awaitNoWorkerProcess();
        }
    }

    private void answer(MockProvider provider) {
        for (String path : List.of(WORKERS, PASSING)) {
            provider.respond(path, (request, reply) -> {
                if (request.header("x-hold").isEmpty()) {
                    reply.sized(200, "application/json", "{}");
                    return;
                }
                reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                reply.chunk("data: first\n\n");
                finish.await(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                reply.chunk("data: last\n\n").end();
            });
        }
    }

    private void ask(Relay relay, String credential) {
        while (!over) {
            String id = UUID.randomUUID().toString();
            answers.put(id, 0); // stays for one without an answer
            answers.put(
                    id,
                    RawHttp.post(relay.port(), PASSING, "{}", credential, ID + ": " + id)
                            .status());
            LockSupport.parkNanos(PACE_NANOS);
        }
    }

    private Map<String, Integer> refused() {
        Map<String, Integer> refused = new ConcurrentHashMap<>(answers);
        refused.values().removeIf(status -> status == 200);
        return refused;
    }

    private static Map<String, Integer> submitted(MockProvider provider) {
        Map<String, Integer> submitted = new ConcurrentHashMap<>();
        provider.received().stream()
                .flatMap(request -> request.header(ID).stream())
                .forEach(id -> submitted.merge(id, 1, Integer::sum));
        return submitted;
    }

    private static int count(OneUser bench, String path) {
        return bench.provider.received(path).size();
    }

    private static List<String> workers(Relay relay) {
        return relay.workers().stream()
                .map(worker -> worker.string("worker_id") + " " + worker.string("state"))
                .toList();
    }
}
