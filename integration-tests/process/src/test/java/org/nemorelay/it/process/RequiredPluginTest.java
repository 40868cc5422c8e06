package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** A required component that cannot run keeps the worker from becoming ready, and the daemon says why. */
@Timeout(120)
class RequiredPluginTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    @Test
    void theReasonReachesTheDaemonsLogAndStatusAndRequestsPassThrough() {
        try (OneUser bench = new OneUser(folder, "[[components]]\nkind = \"nope\"\n");
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            Path own = bench.executable.resolve("../../etc/plugins").normalize();
            String reason = "provides the plugin kind \"nope\"; " + own
                    + " is not there, put one there or remove the component";
            Await.until(
                    () -> "the daemon says why\n" + relay.process().transcript(),
                    LIMIT,
                    () -> relay.process()
                            .stderr()
                            .lines()
                            .anyMatch(line -> line.contains("worker_plugin_quarantined")
                                    && line.contains("plugin=nope")
                                    && line.contains(reason)));
            Await.until(
                    () -> "the start has failed\n" + relay.process().transcript(),
                    LIMIT,
                    () -> relay.process().stderr().contains("worker_exited_before_ready"));
            Proc.Result status = bench.user
                    .withToken(bench.executable.toString(), "status", "--json", "--port", "" + relay.port())
                    .run(LIMIT);
            JsonObject plugin = Json.parseObject(status.stdout().strip()).objects("plugins").stream()
                    .filter(one -> one.string("kind").equals("nope"))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError(status));
            assertEquals("quarantined", plugin.string("state"));
            assertTrue(plugin.string("reason").endsWith(reason), plugin.string("reason"));
            assertEquals(
                    200,
                    RawHttp.post(relay.port(), "/v1/messages", "{}", bench.user.header())
                            .status());
            assertEquals(0, mcp.end());
        }
    }

    /** Files that a worker cannot read, in the log at its usual level, which tells errors alone. */
    @Test
    void aFileThatIsWrongReachesTheDaemonsLogAndStatusToo() throws Exception {
        try (OneUser bench = new OneUser(folder, "[[components\n")) {
            Path etc = bench.executable.resolve("../../etc").normalize();
            int line = Relay.observabilityToml(folder).split("\n").length + 1;
            String[] reasons = {
                etc.resolve("config.toml") + ":2:1: [upstream] \"openai_base_ur\" is not a known key; did you mean",
                etc.resolve("plugins.toml") + ":" + line + ":"
            };
            try (Relay relay = Relay.start(
                    bench.user, bench.executable, Relay.upstream(bench.provider).env("NEMO_RELAY_LOG", "error"))) {
                Files.writeString(etc.resolve("config.toml"), "[upstream]\nopenai_base_ur = \"x\"\n");
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay);
                for (String reason : reasons) {
                    Await.until(
                            () -> reason + "\n" + relay.process().transcript()
                                    + mcp.process().transcript(),
                            LIMIT,
                            () -> relay.process()
                                    .stderr()
                                    .lines()
                                    .anyMatch(said ->
                                            said.contains("worker_configuration_rejected") && said.contains(reason)));
                }
                Proc.Result status = bench.user
                        .withToken(bench.executable.toString(), "status", "--json", "--port", "" + relay.port())
                        .run(LIMIT);
                assertTrue(
                        Json.parseObject(status.stdout().strip()).objects("plugins").stream()
                                .anyMatch(one -> one.string("file")
                                                .equals(etc.resolve("config.toml")
                                                        .toString())
                                        && one.string("state").equals("quarantined")
                                        && one.string("reason").contains(reasons[1])),
                        status::toString);
                assertEquals(0, mcp.end());
            }
        }
    }

    @Test
    void whereAWorkerIsRequiredRequestsAreRefused() {
        try (OneUser bench = new OneUser(folder, "[[components]]\nkind = \"nope\"\n");
                Relay relay = bench.daemon("--require-worker");
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            Await.until(
                    () -> "the start has failed\n" + relay.process().transcript(),
                    LIMIT,
                    () -> relay.process().stderr().contains("worker_exited_before_ready"));
            assertEquals(
                    503,
                    RawHttp.post(relay.port(), "/v1/messages", "{}", bench.user.header())
                            .status());
            assertEquals(0, mcp.end());
        }
    }
}
