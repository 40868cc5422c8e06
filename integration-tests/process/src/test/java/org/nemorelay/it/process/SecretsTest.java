package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Events;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;

/** What SECURITY.md says of secrets that are in memory only: no log, however talkative, no file, no command line has them. */
@Timeout(120)
class SecretsTest {
    private static final String DAEMONS_KEY = "sk-of-the-daemon-0123456789";
    private static final String CALLERS_KEY = "sk-of-the-caller-0123456789";
    private static final String PROMPT = "a-prompt-0123456789";

    @TempDir
    Path folder;

    @Test
    void areInNoLogFileOrCommandLine() throws Exception {
        Path temporary = Files.createDirectories(folder.resolve("tmp"));
        Map<String, String> talkative = Map.of("NEMO_RELAY_LOG", "trace", "TMPDIR", temporary.toString());
        try (OneUser bench = new OneUser(folder, "", Route.WORKER.at(""));
                Relay relay = Relay.start(
                        bench.user,
                        bench.executable,
                        Relay.upstream(bench.provider)
                                .env("NEMO_RELAY_ANTHROPIC_AUTH_HEADER", "Bearer " + DAEMONS_KEY)
                                .env(talkative));
                ControlCut road = new ControlCut(relay.port());
                McpSession mcp = McpSession.start(bench.user
                        .withToken(bench.executable.toString(), "daemon", "mcp", "--daemon-address", road.address())
                        .env(talkative))) {
            answer(bench, Route.PASS_THROUGH);
            answer(bench, Route.WORKER);
            mcp.initialize();
            RawHttp.post(relay.port(), "/v1/messages", body(), bench.user.header());
            relay.awaitReadyWorker(mcp);
            Proc.Result hook = bench.user
                    .withToken(
                            bench.executable.toString(),
                            "daemon",
                            "hook",
                            "claude",
                            "--daemon-address",
                            relay.address())
                    .env(talkative)
                    .run(
                            "{\"hook_event_name\":\"PreToolUse\"}".getBytes(StandardCharsets.UTF_8),
                            Duration.ofSeconds(30));
            assertEquals(0, hook.exit(), hook.toString());
            assertEquals(
                    200,
                    RawHttp.post(relay.port(), "/v1/messages", body(), bench.user.header(), "x-api-key: " + CALLERS_KEY)
                            .status());
            Events.await(bench.events, "LLM end", Events.scope("anthropic.messages", "end"));
            List<ProcessTable.Entry> worker = bench.workers();
            Map<String, String> secrets = new LinkedHashMap<>();
            secrets.put("client token", bench.user.token());
            secrets.put("data token", road.dataToken());
            secrets.put("daemon's key", DAEMONS_KEY);
            secrets.put("caller's key", CALLERS_KEY);
            for (ProcessTable.Entry process : worker) {
                String given = process.arguments() + " " + process.environment();
                secrets.forEach((name, secret) -> assertFalse(given.contains(secret), name + " is in " + given));
            }
            noFileHas(secrets);
            assertEquals(0, mcp.end());
            relay.awaitNoWorker(Duration.ofSeconds(10));
            bench.awaitNoWorkerProcess();
            // The prompt is a plugin's to record, and nobody else's to log.
            secrets.put("prompt", PROMPT);
            String said =
                    hook.stderr() + mcp.process().transcript() + relay.process().transcript();
            secrets.forEach((name, secret) -> assertFalse(said.contains(secret), name + " is in " + said));
        }
    }

    private static void answer(OneUser bench, Route route) {
        bench.provider.respond(
                route.at("/v1/messages"),
                (request, reply) -> reply.sized(200, "application/json", "{\"type\":\"message\"}"));
    }

    private static String body() {
        return "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"" + PROMPT + "\"}]}";
    }

    private void noFileHas(Map<String, String> secrets) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.filter(Files::isRegularFile)
                    .filter(file -> !file.startsWith(folder.resolve("tree")))
                    .toList()) {
                String content = Files.readString(file, StandardCharsets.ISO_8859_1);
                secrets.forEach((name, secret) -> assertFalse(content.contains(secret), name + " is in " + file));
            }
        }
    }
}
