package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/** Three real users of one daemon share nothing, and none learns where a worker listens. */
class ThreeUsersTest {
    private static final List<Integer> UIDS = List.of(61001, 61002, 61003);

    private Path folder;

    @BeforeEach
    void readableFolder() throws IOException {
        folder = Files.createTempDirectory("nemo-relay-users");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    @AfterEach
    void remove() throws IOException, InterruptedException {
        new ProcessBuilder("rm", "-rf", folder.toString()).start().waitFor();
    }

    @Test
    void threeUsersShareNothing() throws IOException {
        assumeTrue(
                "root".equals(System.getProperty("user.name")),
                "needs root, to run processes under three uids; run the tests as root to include it");
        Path events = Files.createDirectories(folder.resolve("events"));
        Files.setPosixFilePermissions(events, PosixFilePermissions.fromString("rwxrwxrwx"));
        try (MockProvider provider = new MockProvider()) {
            Path executable = Distribution.privateTree(
                            folder.resolve("tree"), Relay.upstreamToml(provider), "version = 1\n")
                    .resolve("bin/nemo-relay");
            User service = User.self(folder.resolve("service"));
            List<User> users = UIDS.stream()
                    .map(uid -> User.other(folder.resolve("home-" + uid), uid))
                    .toList();
            List<McpSession> sessions = new ArrayList<>();
            try (Relay relay = Relay.start(service, executable, Relay.upstream(provider))) {
                users.forEach(user -> sessions.add(McpSession.initialized(user, executable, relay)));
                Await.until(
                        "three ready workers",
                        Duration.ofSeconds(30),
                        () -> relay.workers().stream()
                                        .filter(worker -> worker.string("state").equals("ready"))
                                        .count()
                                == 3);
                List<ProcessTable.Entry> workers = ProcessTable.mentioning(relay.address()).stream()
                        .filter(process -> process.arguments().contains("worker"))
                        .toList();
                assertEquals(
                        Set.copyOf(UIDS),
                        new HashSet<>(
                                workers.stream().map(ProcessTable.Entry::uid).toList()));
                for (int i = 0; i < users.size(); i++) {
                    serves(users.get(i), executable, relay, sessions.get(i), workers);
                }
                workersRefuseStrangers(workers);
                sessions.forEach(McpSession::end);
                relay.awaitNoWorker(Duration.ofSeconds(15));
            } finally {
                sessions.forEach(McpSession::close);
            }
        }
    }

    private static void serves(
            User user, Path executable, Relay relay, McpSession session, List<ProcessTable.Entry> workers) {
        RawHttp.Answer answer = RawHttp.post(relay.port(), "/v1/messages", "{\"stream\":true}", user.header());
        assertEquals(200, answer.status());
        Proc.Result hook = user.withToken(
                        executable.toString(), "daemon", "hook", "codex", "--daemon-address", relay.address())
                .run("{\"hook_event_name\":\"SessionStart\"}".getBytes(StandardCharsets.UTF_8), Duration.ofSeconds(10));
        assertEquals(0, hook.exit(), hook.stderr());
        String seen = answer.headers()
                + answer.text()
                + hook.stdout()
                + hook.stderr()
                + session.process().stdout()
                + RawHttp.get(relay.port(), "/healthz").text()
                + RawHttp.get(relay.port(), "/_nemo_relay/v1/workers").text()
                + RawHttp.get(relay.port(), "/_nemo_relay/v1/workers/status").text();
        for (ProcessTable.Entry worker : workers) {
            for (int port : ProcessTable.listeningPorts(worker.pid())) {
                assertFalse(seen.contains(":" + port), "a worker's port " + port + " is visible in " + seen);
                assertFalse(
                        worker.environment().stream().anyMatch(value -> value.contains(Integer.toString(port))),
                        "the environment holds the port");
            }
            assertFalse(
                    worker.environment().stream().anyMatch(value -> value.startsWith("NEMO_RELAY_CLIENT_TOKEN=")),
                    "the worker's environment holds the token");
        }
    }

    private static void workersRefuseStrangers(List<ProcessTable.Entry> workers) {
        for (ProcessTable.Entry worker : workers) {
            List<Integer> ports = ProcessTable.listeningPorts(worker.pid());
            assertTrue(ports.size() == 1, "one port, not " + ports);
            assertEquals(
                    401, RawHttp.post(ports.getFirst(), "/v1/messages", "{}").status());
            assertEquals(
                    401,
                    RawHttp.post(ports.getFirst(), "/v1/messages", "{}", "x-nemo-relay-worker-token: " + "A".repeat(43))
                            .status());
            assertEquals(
                    401,
                    RawHttp.get(ports.getFirst(), "/_nemo-relay/worker/v1/ready")
                            .status());
        }
    }
}
