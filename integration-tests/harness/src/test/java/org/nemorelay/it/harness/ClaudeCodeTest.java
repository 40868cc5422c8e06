package org.nemorelay.it.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Answers;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Events;
import org.nemorelay.it.ExternalTool;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/**
 * A real Claude Code session through the relay: base URL, client token header, lifecycle client and hooks as a user would
 * set them up.
 *
 * <p>Claude Code is kept off other networks by its own switch, with which it was measured to make no DNS query at all. A
 * network namespace would have to hold the daemon and the provider of this JVM as well, and would hide nothing more.
 */
class ClaudeCodeTest {
    /** A worker outlives a lost session by 30 s. */
    private static final Duration NOTHING_LEFT = Duration.ofSeconds(35);

    private static final Duration RUN = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    @Test
    void throughAReadyWorker() {
        try (Bench bench = new Bench(folder)) {
            try (McpSession held = McpSession.initialized(bench.user, bench.executable, bench.relay)) {
                bench.relay.awaitReadyWorker(held);
                Proc.Result claude = bench.claude().run(RUN);
                assertEquals(0, claude.exit(), claude.toString());
                bench.showsTheAnswer(claude);

                assertEquals(List.of(), bench.pastTheWorker.received());
                List<MockProvider.Received> requests = bench.behindTheWorker.received("/v1/messages");
                assertEquals(2, requests.size());
                assertEquals("relay-says-hi", toolResult(requests.getLast()));
                for (MockProvider.Received request : requests) {
                    assertEquals("/v1/messages?beta=true", request.target());
                    assertEquals(List.of("sk-ant-mock"), request.header("x-api-key"));
                    assertEquals(List.of(), request.header("x-nemo-relay-client-token"));
                }

                String session =
                        requests.getFirst().header("x-claude-code-session-id").getFirst();
                Events.await(bench.events, "LLM start", Events.scope("anthropic.messages", "start"));
                Events.await(bench.events, "LLM end", Events.scope("anthropic.messages", "end"));
                Events.await(bench.events, "tool end", Events.scope("Bash", "end"));
                JsonObject tool = Events.await(bench.events, "tool start", Events.scope("Bash", "start"));
                assertEquals("toolu_mock_1", tool.object("category_profile").string("tool_call_id"));
                assertEquals(session, tool.object("metadata").string("session_id"));
                assertEquals(0, held.end());
            }
            bench.nothingIsLeft();
        }
    }

    @Test
    void aloneAndCold() {
        try (Bench bench = new Bench(folder)) {
            Proc.Result claude = bench.claude().run(RUN);
            assertEquals(0, claude.exit(), claude.toString());
            bench.showsTheAnswer(claude);
            assertEquals(
                    2,
                    bench.pastTheWorker.received("/v1/messages").size()
                            + bench.behindTheWorker.received("/v1/messages").size());
            bench.nothingIsLeft();
        }
    }

    @Test
    void interruptedInTheMiddleOfARequest() {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        MockProvider.Responder silent = (request, reply) -> {
            asked.countDown();
            release.await();
        };
        try (Bench bench = new Bench(folder)) {
            bench.behindTheWorker.respond("/v1/messages", silent);
            bench.pastTheWorker.respond("/v1/messages", silent);
            try (Proc claude = bench.claude().start()) {
                claude.closeInput();
                Await.until("the provider was asked\n" + claude.transcript(), RUN, () -> asked.getCount() == 0);
                claude.signal("INT");
                claude.awaitExit(Duration.ofSeconds(10));
            }
            bench.nothingIsLeft();
            release.countDown();
        }
    }

    /** What the model was told of its tool call. */
    private static String toolResult(MockProvider.Received request) {
        return Json.parseObject(request.body()).objects("messages").stream()
                .filter(message -> message.values().get("content") instanceof List<?>)
                .flatMap(message -> message.objects("content").stream())
                .filter(block -> block.string("type").equals("tool_result"))
                .map(block -> block.string("content"))
                .findFirst()
                .orElse("no result");
    }

    private static final class Bench implements AutoCloseable {
        final MockProvider pastTheWorker = provider();
        final MockProvider behindTheWorker = provider();
        final Path events;
        final User user;
        final Path executable;
        final Path project;
        final Relay relay;

        Bench(Path folder) {
            events = folder.resolve("events.jsonl");
            user = User.self(folder.resolve("home"));
            project = user.home().resolve("project");
            executable = Distribution.privateTree(
                            folder.resolve("tree"),
                            Relay.upstreamToml(behindTheWorker),
                            Relay.observabilityToml(folder))
                    .resolve("bin/nemo-relay");
            relay = Relay.start(user, executable, Relay.upstream(pastTheWorker));
        }

        Proc.Spec claude() {
            Path settings = file("settings.json", Map.of("hooks", hooks()));
            Path servers = file(
                    "mcp.json",
                    Map.of(
                            "mcpServers",
                            Map.of(
                                    "nemo-relay",
                                    Map.of(
                                            "type",
                                            "stdio",
                                            "command",
                                            executable.toString(),
                                            "args",
                                            List.of("daemon", "mcp", "--daemon-address", relay.address())))));
            return user.withToken(
                            ExternalTool.CLAUDE.require().toString(),
                            "-p",
                            "--settings",
                            settings.toString(),
                            "--mcp-config",
                            servers.toString(),
                            "--strict-mcp-config",
                            "--allowedTools",
                            "Bash",
                            "--output-format",
                            "stream-json",
                            "--verbose",
                            "say hi")
                    .env("CLAUDE_CONFIG_DIR", user.home().resolve("claude").toString())
                    .env("ANTHROPIC_BASE_URL", relay.address())
                    .env("ANTHROPIC_API_KEY", "sk-ant-mock")
                    .env("ANTHROPIC_CUSTOM_HEADERS", user.header())
                    .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                    .env("CLAUDE_CODE_MAX_RETRIES", "1")
                    .in(project);
        }

        void showsTheAnswer(Proc.Result claude) {
            List<JsonObject> lines =
                    claude.stdout().lines().map(Json::parseObject).toList();
            JsonObject init = line(lines, "subtype", "init");
            assertEquals(
                    List.of("nemo-relay connected"),
                    init.objects("mcp_servers").stream()
                            .map(server -> server.string("name") + " " + server.string("status"))
                            .toList(),
                    claude.toString());
            JsonObject result = line(lines, "type", "result");
            assertEquals("MOCK-FINAL-TEXT", result.string("result"), claude.toString());
        }

        void nothingIsLeft() {
            Await.until(
                    "no process of the user is left beside the daemon",
                    NOTHING_LEFT,
                    () -> ProcessTable.mentioning(user.home().toString()).stream()
                            .allMatch(
                                    process -> process.pid() == relay.process().pid()));
            relay.awaitNoWorker(Duration.ofSeconds(1));
        }

        @Override
        public void close() {
            relay.close();
            pastTheWorker.close();
            behindTheWorker.close();
        }

        private static JsonObject line(List<JsonObject> lines, String key, String value) {
            return lines.stream()
                    .filter(line -> line.optionalString(key).orElse("").equals(value))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no line with " + key + " " + value));
        }

        private Map<String, Object> hooks() {
            String command = executable + " daemon hook claude --daemon-address " + relay.address();
            Map<String, Object> hooks = new LinkedHashMap<>();
            Stream.of("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
                    .forEach(event -> hooks.put(
                            event,
                            List.of(Map.of(
                                    "hooks", List.of(Map.of("type", "command", "command", command, "timeout", 10))))));
            return hooks;
        }

        private Path file(String name, Map<String, Object> content) {
            try {
                Files.createDirectories(project);
                return Files.writeString(user.home().resolve(name), Json.write(content));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        private static MockProvider provider() {
            return new MockProvider()
                    .respond("/v1/messages", Answers.anthropicToolThenText("echo relay-says-hi", "MOCK-FINAL-TEXT"));
        }
    }
}
