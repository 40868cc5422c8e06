package org.nemorelay.it.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.nemorelay.it.Answers;
import org.nemorelay.it.ExternalTool;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/**
 * A real harness with model provider, client token, lifecycle client and hooks as a user would set them up, to answer one
 * prompt. Each is kept off other networks by its own switches, with which it was measured to make no DNS query at all. A
 * network namespace would have to hold the daemon and the provider of this JVM as well, and would hide nothing more.
 */
enum Harness {
    CLAUDE_CODE("claude-code", "/v1/messages", "anthropic.messages", "Bash") {
        @Override
        Proc.Spec session(Bench bench) {
            String hooks = bench.file(
                            "settings.json",
                            bench.hooks(
                                    "claude",
                                    "SessionStart",
                                    "UserPromptSubmit",
                                    "PreToolUse",
                                    "PermissionRequest",
                                    "PostToolUse",
                                    "Stop",
                                    "SessionEnd"))
                    .toString();
            String servers = bench.file(
                            "mcp.json",
                            Map.of(
                                    "mcpServers",
                                    Map.of(
                                            "nemo-relay",
                                            Map.of(
                                                    "type",
                                                    "stdio",
                                                    "command",
                                                    bench.executable.toString(),
                                                    "args",
                                                    bench.lifecycle()))))
                    .toString();
            return bench.user
                    .withToken(ExternalTool.CLAUDE.require().toString(), "-p")
                    .command("--settings", hooks)
                    .command("--mcp-config", servers, "--strict-mcp-config")
                    .command("--allowedTools", "Bash")
                    .command("--output-format", "stream-json", "--verbose")
                    .command("say hi")
                    .env(
                            "CLAUDE_CONFIG_DIR",
                            bench.user.home().resolve("claude").toString())
                    .env("ANTHROPIC_BASE_URL", bench.relay.address())
                    .env("ANTHROPIC_API_KEY", KEY)
                    .env("ANTHROPIC_CUSTOM_HEADERS", bench.user.header())
                    .env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")
                    .env("CLAUDE_CODE_MAX_RETRIES", "1")
                    .in(bench.project);
        }

        @Override
        MockProvider.Responder toolThenText(String command, String text) {
            return Answers.anthropicToolThenText(command, text);
        }

        @Override
        void shows(String text, Proc.Result result) {
            List<JsonObject> lines = lines(result);
            assertEquals(
                    List.of("nemo-relay connected"),
                    line(lines, "subtype", "init").objects("mcp_servers").stream()
                            .map(server -> server.string("name") + " " + server.string("status"))
                            .toList(),
                    result.toString());
            assertEquals(text, line(lines, "type", "result").string("result"), result.toString());
        }

        @Override
        List<String> credential(MockProvider.Received request) {
            return request.header("x-api-key");
        }
    },

    CODEX("codex", "/v1/responses", "openai.responses", "Bash") {
        @Override
        Proc.Spec session(Bench bench) {
            return codex(bench, "env_vars = [\"NEMO_RELAY_CLIENT_TOKEN\"]")
                    .env("NEMO_RELAY_CLIENT_TOKEN", bench.user.token());
        }

        @Override
        MockProvider.Responder toolThenText(String command, String text) {
            return Answers.responsesToolThenText("exec_command", Map.of("cmd", command), text);
        }

        @Override
        void shows(String text, Proc.Result result) {
            assertEquals(
                    text,
                    lines(result).stream()
                            .filter(line -> line.string("type").equals("item.completed"))
                            .map(line -> line.object("item"))
                            .filter(item -> item.string("type").equals("agent_message"))
                            .map(item -> item.string("text"))
                            .reduce("", String::concat),
                    result.toString());
        }
    },

    PI("pi", "/v1/responses", "openai.responses", "bash") {
        @Override
        Proc.Spec session(Bench bench) {
            return bench.user
                    .withToken(ExternalTool.PI.require().toString(), "-p")
                    .command("--no-extensions", "-e", "builtin:mcp")
                    .command(
                            "-e",
                            bench.file("relay.ts", resource("/pi/relay.ts")).toString())
                    .command("--model", "relay/mock-model", "--no-session")
                    .command("say hi")
                    .env("PI_CODING_AGENT_DIR", bench.user.home().resolve("pi").toString())
                    .env("RELAY_KEY", KEY)
                    .env("RELAY_ADDRESS", bench.relay.address())
                    .env("RELAY_EXECUTABLE", bench.executable.toString())
                    .in(bench.project);
        }

        @Override
        MockProvider.Responder toolThenText(String command, String text) {
            return Answers.responsesToolThenText("bash", Map.of("command", command), text);
        }

        @Override
        void shows(String text, Proc.Result result) {
            assertEquals(text, result.stdout().strip(), result.toString());
        }
    };

    /** The user's key at the provider. */
    static final String KEY = "sk-mock";

    /** As the record names it. */
    final String agent;

    final String path;
    /** As the record names its requests. */
    final String api;
    /** The shell, as its hooks name it. */
    final String shell;

    Harness(String agent, String path, String api, String shell) {
        this.agent = agent;
        this.path = path;
        this.api = api;
        this.shell = shell;
    }

    /** One run with the prompt "say hi". */
    abstract Proc.Spec session(Bench bench);

    /** First a call of the shell, then, once its result is in the conversation, the text. */
    abstract MockProvider.Responder toolThenText(String command, String text);

    /** The user saw this answer and nothing else. */
    abstract void shows(String text, Proc.Result result);

    /** What the request carries for the provider. */
    List<String> credential(MockProvider.Received request) {
        return request.header("authorization").stream()
                .map(value -> value.replaceFirst("^Bearer ", ""))
                .toList();
    }

    /**
     * Codex without the token in its environment.
     *
     * @param server lines of the lifecycle client's section
     */
    static Proc.Spec codex(Bench bench, String server) {
        bench.file("codex/config.toml", """
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
                env_key = "RELAY_KEY"
                env_http_headers = { "x-nemo-relay-client-token" = "RELAY_HEADER" }
                request_max_retries = 0
                stream_max_retries = 0
                [mcp_servers.nemo-relay]
                command = "%s"
                args = %s
                %s
                [analytics]
                enabled = false
                [features]
                plugins = false
                apps = false
                unbounded_connection_retries = false
                """.formatted(
                        bench.relay.address(), bench.executable, Json.write(bench.lifecycle()), server));
        bench.file(
                "codex/hooks.json",
                bench.hooks(
                        "codex",
                        "SessionStart",
                        "UserPromptSubmit",
                        "PreToolUse",
                        "PermissionRequest",
                        "PostToolUse",
                        "Stop",
                        "SessionEnd"));
        return bench.user
                .spec(ExternalTool.CODEX.require().toString(), "exec")
                .command("--json", "--skip-git-repo-check", "--dangerously-bypass-hook-trust")
                .command("say hi")
                .env("CODEX_HOME", bench.user.home().resolve("codex").toString())
                .env("RELAY_KEY", KEY)
                .env("RELAY_HEADER", bench.user.token())
                .in(bench.project);
    }

    private static List<JsonObject> lines(Proc.Result result) {
        return result.stdout().lines().map(Json::parseObject).toList();
    }

    private static JsonObject line(List<JsonObject> lines, String key, String value) {
        return lines.stream()
                .filter(line -> line.optionalString(key).orElse("").equals(value))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no line with " + key + " " + value));
    }

    private static String resource(String name) {
        try (InputStream source = Harness.class.getResourceAsStream(name)) {
            return new String(source.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
