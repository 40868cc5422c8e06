package org.nemorelay.it.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.it.Answers;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Events;
import org.nemorelay.it.ExternalTool;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** Real Codex, Claude Code and Pi sessions whose shell the administrator's policy denies, and the same sessions without it. */
class BlockedToolTest {
    private static final Duration RUN = Duration.ofSeconds(60);
    private static final String REASON = "the administrator's tool policy denies the tool ";
    private static final String DENY_BASH = """
            [[components]]
            kind = "tool_policy"
            [components.config]
            version = 1
            deny = ["Bash", "bash"]
            """;

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void claudeCode(boolean denied) throws IOException {
        run(denied, "claude-code", "Bash", "/v1/messages", this::claude);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void codex(boolean denied) throws IOException {
        run(denied, "codex", "Bash", "/v1/responses", this::codex);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void pi(boolean denied) throws IOException {
        run(denied, "pi", "bash", "/v1/responses", this::pi);
    }

    private record Bench(User user, Path executable, Relay relay, Path project) {
        List<Map<String, Object>> hook(String agent) {
            String command = executable + " daemon hook " + agent + " --daemon-address " + relay.address();
            return List.of(Map.of("hooks", List.of(Map.of("type", "command", "command", command, "timeout", 10))));
        }
    }

    private void run(boolean denied, String agent, String tool, String path, Function<Bench, Proc.Spec> session)
            throws IOException {
        Path events = folder.resolve("events.jsonl");
        Path touched = folder.resolve("touched");
        String reason = REASON + tool;
        try (MockProvider provider = new MockProvider()
                .respond("/v1/messages", Answers.anthropicToolThenText("touch " + touched, "MOCK-FINAL-TEXT"))
                .respond(
                        "/v1/responses",
                        BlockedToolTest.responsesToolThenText(agent.equals("pi"), "touch " + touched))) {
            User user = User.self(folder.resolve("home"));
            Path executable = Distribution.privateTree(
                            folder.resolve("tree"),
                            Relay.upstreamToml(provider),
                            Relay.observabilityToml(folder) + (denied ? DENY_BASH : ""))
                    .resolve("bin/nemo-relay");
            Path project = Files.createDirectories(user.home().resolve("project"));
            try (Relay relay = Relay.start(user, executable, Relay.upstream(provider));
                    McpSession held = McpSession.initialized(user, executable, relay)) {
                relay.awaitReadyWorker(held);
                Proc.Result result = session.apply(new Bench(user, executable, relay, project))
                        .run(RUN);
                assertEquals(0, result.exit(), result.toString());
                assertTrue(result.stdout().contains("MOCK-FINAL-TEXT"), result.toString());

                List<MockProvider.Received> requests = provider.received(path);
                assertEquals(2, requests.size());
                assertEquals(
                        denied,
                        requests.getLast().bodyText().contains(reason),
                        requests.getLast().bodyText());
                assertEquals(!denied, Files.exists(touched));

                if (denied) {
                    JsonObject rejected = Events.await(events, "rejected call", Events.scope(tool, ""));
                    assertEquals(reason, rejected.object("data").string("rejection_reason"));
                    Events.await(events, "guardrail", Events.scope("tool_policy", "end"));
                    assertFalse(Events.in(events).stream().anyMatch(Events.scope(tool, "start")));
                } else {
                    Events.await(events, "tool end", Events.scope(tool, "end"));
                }
                String sessionId = Events.await(events, "turn end", Events.scope(agent + "-turn", "end"))
                        .object("metadata")
                        .string("session_id");
                for (JsonObject event : Events.in(events)) {
                    event.object("metadata")
                            .optionalString("session_id")
                            .ifPresent(id -> assertEquals(sessionId, id, event.toString()));
                }
            }
        }
    }

    private Proc.Spec claude(Bench bench) {
        Map<String, Object> hooks = new LinkedHashMap<>();
        Stream.of(
                        "SessionStart",
                        "UserPromptSubmit",
                        "PreToolUse",
                        "PermissionRequest",
                        "PostToolUse",
                        "Stop",
                        "SessionEnd")
                .forEach(event -> hooks.put(event, bench.hook("claude")));
        Path settings = write(bench.user().home().resolve("settings.json"), Json.write(Map.of("hooks", hooks)));
        return bench.user()
                .withToken(
                        ExternalTool.CLAUDE.require().toString(),
                        "-p",
                        "--settings",
                        settings.toString(),
                        "--allowedTools",
                        "Bash",
                        "--output-format",
                        "text",
                        "say hi")
                .env("CLAUDE_CONFIG_DIR", bench.user().home().resolve("claude").toString())
                .env("ANTHROPIC_BASE_URL", bench.relay().address())
                .env("ANTHROPIC_API_KEY", "sk-ant-mock")
                .env("ANTHROPIC_CUSTOM_HEADERS", bench.user().header())
                .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                .env("CLAUDE_CODE_MAX_RETRIES", "1")
                .in(bench.project());
    }

    private Proc.Spec codex(Bench bench) {
        Path home = bench.user().home().resolve("codex");
        write(home.resolve("config.toml"), """
                model = "mock-model"
                model_provider = "relay"
                check_for_update_on_startup = false
                approval_policy = "never"
                sandbox_mode = "danger-full-access"
                web_search = "disabled"
                [model_providers.relay]
                name = "relay"
                base_url = "%s/v1"
                wire_api = "responses"
                env_http_headers = { "x-nemo-relay-client-token" = "NEMO_RELAY_CLIENT_TOKEN" }
                request_max_retries = 0
                stream_max_retries = 0
                [analytics]
                enabled = false
                [features]
                plugins = false
                apps = false
                unbounded_connection_retries = false
                """.formatted(bench.relay().address()));
        Map<String, Object> hooks = new LinkedHashMap<>();
        Stream.of("SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop")
                .forEach(event -> hooks.put(event, bench.hook("codex")));
        write(home.resolve("hooks.json"), Json.write(Map.of("hooks", hooks)));
        return bench.user()
                .withToken(
                        ExternalTool.CODEX.require().toString(),
                        "exec",
                        "--skip-git-repo-check",
                        "--dangerously-bypass-hook-trust",
                        "say hi")
                .env("CODEX_HOME", home.toString())
                .in(bench.project());
    }

    private Proc.Spec pi(Bench bench) {
        Path extension;
        try (InputStream source = BlockedToolTest.class.getResourceAsStream("/pi/relay.ts")) {
            extension = write(
                    bench.user().home().resolve("relay.ts"), new String(source.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
        ExternalTool.NODE.require();
        return bench.user()
                .withToken(
                        ExternalTool.PI.require().toString(),
                        "-p",
                        "--no-extensions",
                        "-e",
                        extension.toString(),
                        "--model",
                        "relay/mock-model",
                        "--no-session",
                        "say hi")
                .env("PATH", "/usr/bin:/bin")
                .env("PI_CODING_AGENT_DIR", bench.user().home().resolve("pi").toString())
                .env("RELAY_KEY", "sk-mock")
                .env("RELAY_ADDRESS", bench.relay().address())
                .env("RELAY_EXECUTABLE", bench.executable().toString())
                .in(bench.project());
    }

    private static Path write(Path file, String content) {
        try {
            Files.createDirectories(file.getParent());
            return Files.writeString(file, content);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static MockProvider.Responder responsesToolThenText(boolean pi, String command) {
        MockProvider.Responder text = Answers.responsesStream("MOCK-FINAL-TEXT");
        return (request, reply) -> {
            if (request.bodyText().contains("function_call_output")) {
                text.respond(request, reply);
                return;
            }
            Map<String, Object> item = Map.of(
                    "type",
                    "function_call",
                    "id",
                    "fc_mock",
                    "call_id",
                    "call_mock",
                    "name",
                    pi ? "bash" : "exec_command",
                    "arguments",
                    Json.write(Map.of(pi ? "command" : "cmd", command)));
            Map<String, Object> response = Json.object(
                    "id",
                    "resp_mock",
                    "object",
                    "response",
                    "status",
                    "completed",
                    "output",
                    List.of(item),
                    "usage",
                    Map.of("input_tokens", 1, "output_tokens", 1, "total_tokens", 2));
            Answers.stream(
                    reply,
                    List.of(
                            event("response.created", Map.of("response", Map.of("id", "resp_mock"))),
                            event("response.output_item.added", Map.of("output_index", 0, "item", item)),
                            event("response.output_item.done", Map.of("output_index", 0, "item", item)),
                            event("response.completed", Map.of("response", response))));
        };
    }

    private static String event(String type, Map<String, ?> fields) {
        Map<String, Object> data = new LinkedHashMap<>(fields);
        data.put("type", type);
        return "event: " + type + "\ndata: " + Json.write(data) + "\n\n";
    }
}
