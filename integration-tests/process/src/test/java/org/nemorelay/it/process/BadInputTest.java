package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;

/** Wrong input at every door of this issue: one clear line and the documented status or exit code. */
class BadInputTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    @TempDir
    Path folder;

    @Test
    void wrongDaemonAddresses() {
        try (OneUser bench = new OneUser(folder)) {
            for (String address : new String[] {
                "ftp://localhost:1",
                "http://localhost",
                "http://user@localhost:1",
                "http://localhost:1/path",
                "http://relay.example:80",
                "https://0.0.0.0:443",
                "nonsense"
            }) {
                for (String role : new String[] {"mcp", "worker"}) {
                    Proc.Result result = bench.user
                            .spec(bench.executable.toString(), "daemon", role, "--daemon-address", address)
                            .run(LIMIT);
                    assertTrue(result.exit() == 1 || result.exit() == 2, role + " " + address + ": " + result);
                    assertFalse(result.stderr().contains("\tat "), result.stderr());
                    assertTrue(result.stderr().contains("address"), role + " " + address + ": " + result.stderr());
                    assertEquals("", result.stdout());
                }
            }
        }
    }

    @Test
    void malformedAndRepeatedCredentials() {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon()) {
            for (String value : new String[] {"", "short", "A".repeat(44), "A".repeat(42) + "B", "a,b"}) {
                RawHttp.Answer answer =
                        RawHttp.post(relay.port(), "/v1/messages", "{}", "x-nemo-relay-client-token: " + value);
                assertEquals(401, answer.status(), value);
                assertEquals("{\"error\":{\"message\":\"invalid route credential\"}}", answer.text());
            }
            RawHttp.Answer twice =
                    RawHttp.post(relay.port(), "/hooks/codex", "{}", bench.user.header(), bench.user.header());
            assertEquals(401, twice.status());
            assertEquals("{\"error\":{\"message\":\"exactly one route credential is required\"}}", twice.text());
            assertEquals(
                    404,
                    RawHttp.get(relay.port(), "/nope", "x-nemo-relay-client-token: short")
                            .status());
            assertTrue(bench.provider.received().isEmpty());
        }
    }

    @Test
    void brokenDaemonConfiguration() throws IOException {
        try (OneUser bench = new OneUser(folder)) {
            Path config = folder.resolve("bad.toml");
            assertAll(
                    () -> refused(bench, config, "[upstream\n", "bad.toml", "1"),
                    () -> refused(
                            bench,
                            config,
                            "\n[upstream]\nopenai_base_ur = \"http://x\"\n",
                            "bad.toml",
                            "3",
                            "openai_base_ur"),
                    () -> refused(
                            bench,
                            config,
                            "[upstream]\nresponse_timeout_secs = \"ten\"\n",
                            "bad.toml",
                            "2",
                            "response_timeout_secs"),
                    () -> refused(
                            bench,
                            config,
                            "[upstream]\nopenai_base_url = \"no url\"\n",
                            "bad.toml",
                            "2",
                            "openai_base_url"));
        }
    }

    private void refused(OneUser bench, Path config, String content, String... named) throws IOException {
        Files.writeString(config, content);
        Proc.Result result = bench.user
                .spec(
                        bench.executable.toString(),
                        "--config",
                        config.toString(),
                        "daemon",
                        "--port",
                        "" + Relay.freePort())
                .run(LIMIT);
        assertEquals(1, result.exit(), content + result.stderr());
        String last = result.stderr().lines().reduce((a, b) -> b).orElse("");
        for (String word : named) {
            assertTrue(last.contains(word), "'" + word + "' is not in: " + result.stderr());
        }
    }

    @Test
    void aWorkerNamesABrokenPluginFile() throws IOException {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon()) {
            Path plugins = folder.resolve("tree/etc/plugins.toml");
            Distribution.write(plugins, "version = 1\n\n[[components]]\nkind = \"no_such_kind\"\n");
            workerFails(bench, relay, "plugins.toml:3", "no_such_kind");
            Distribution.write(plugins, "version = 1\n[[components]\n");
            workerFails(bench, relay, "plugins.toml:2");
            assertTrue(relay.workers().isEmpty());
            assertEquals(
                    200,
                    RawHttp.post(relay.port(), "/v1/messages", "{}", bench.user.header())
                            .status());
        }
    }

    /** The answer names who refuses, the size and the setting, and does not wait for the rest (B18). */
    @Test
    void aHookOverTheLimitIsRefusedAtOnce() throws IOException {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), relay.port())) {
                socket.setSoTimeout((int) LIMIT.toMillis());
                socket.getOutputStream()
                        .write(("POST /hooks/codex HTTP/1.1\r\nhost: x\r\ncontent-length: 30000000\r\n"
                                        + bench.user.header() + "\r\n\r\n{\"hook_event_name\":")
                                .getBytes(StandardCharsets.ISO_8859_1));
                String answer = new String(socket.getInputStream().readNBytes(300), StandardCharsets.ISO_8859_1);
                assertTrue(answer.startsWith("HTTP/1.1 413 "), answer);
                assertTrue(
                        answer.contains("20971520-byte limit of the relay's worker, [gateway] max_hook_payload_bytes"),
                        answer);
            }
            assertEquals(
                    200,
                    RawHttp.post(relay.port(), "/hooks/codex", "{}", bench.user.header())
                            .status());
        }
    }

    @Test
    void aWorkerWithoutAGoodGrantSaysSoAndNothingElse() {
        try (OneUser bench = new OneUser(folder)) {
            for (String grant : new String[] {"", "junk", "{}", "{\"activation_id\":1}", "x".repeat(300_000)}) {
                Proc.Result result = bench.user
                        .spec(bench.executable.toString(), "daemon", "worker", "--daemon-address", "http://127.0.0.1:1")
                        .run(grant.getBytes(StandardCharsets.UTF_8), LIMIT);
                assertEquals(1, result.exit(), result.stderr());
                // The tree's own configuration logs from info on.
                List<String> said = result.stderr()
                        .lines()
                        .filter(line -> !line.contains(" INFO "))
                        .toList();
                assertEquals(2, said.size(), result.stderr());
                assertTrue(said.getFirst().contains(" event=command_failed "), result.stderr());
                assertTrue(
                        said.getLast().startsWith("unauthorized: ")
                                && said.getLast().contains("grant"),
                        result.stderr());
            }
        }
    }

    private static void workerFails(OneUser bench, Relay relay, String... named) {
        try (McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            for (String word : named) {
                org.nemorelay.it.Await.until(
                        "'" + word + "' in the worker's output\n"
                                + mcp.process().transcript(),
                        LIMIT,
                        () -> mcp.process().stderr().contains(word));
            }
            assertEquals(0, mcp.end());
        }
    }

    @Test
    void foreignOwnedAndLinkedState() throws IOException {
        try (OneUser bench = new OneUser(folder)) {
            int port = Relay.freePort();
            Path state = Files.createDirectories(bench.user.home().resolve(".config/nemo-relay/daemon"));
            Path elsewhere = Files.createFile(folder.resolve("elsewhere"));
            Files.createSymbolicLink(state.resolve("daemon-identity.pk8"), elsewhere);
            stateRefused(bench, port, "daemon-identity.pk8");
            Files.delete(state.resolve("daemon-identity.pk8"));
            Files.writeString(state.resolve("active-worker-generations.json"), "{broken");
            Files.setPosixFilePermissions(
                    state.resolve("active-worker-generations.json"), PosixFilePermissions.fromString("rw-------"));
            stateRefused(bench, port, "active-worker-generations.json");
            Files.delete(state.resolve("active-worker-generations.json"));
            if ("root".equals(System.getProperty("user.name"))) {
                Files.setAttribute(state, "unix:uid", 61001);
                stateRefused(bench, port, "daemon");
            }
        }
    }

    private static void stateRefused(OneUser bench, int port, String named) {
        Proc.Result result = bench.user
                .spec(bench.executable.toString(), "daemon", "--port", Integer.toString(port))
                .run(LIMIT);
        assertEquals(1, result.exit(), result.stderr());
        String last = result.stderr().lines().reduce((a, b) -> b).orElse("");
        assertTrue(last.contains(named), result.stderr());
    }
}
