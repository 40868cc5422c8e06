package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.example.audit.AuditLog;
import org.nemorelay.example.headers.HeaderInjection;
import org.nemorelay.example.policy.CommandPolicy;
import org.nemorelay.example.rewriting.WordReplacement;
import org.nemorelay.it.Answers;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** The SDK's four examples, as their builds made them, dropped into the plugin folder of a running worker. */
@Timeout(120)
class ExamplesActTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    @Test
    void eachDoesWhatItsReadmeSays() throws Exception {
        Path audit = folder.resolve("audit.jsonl");
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            bench.provider.respond("/v1/chat/completions", Answers.chatStream("the secret word"));
            Path etc = bench.executable.resolve("../../etc").normalize();
            Path plugins = Files.createDirectories(etc.resolve("plugins"));
            Files.setPosixFilePermissions(plugins, PosixFilePermissions.fromString("rwxr-xr-x"));
            for (Class<?> example :
                    List.of(AuditLog.class, HeaderInjection.class, CommandPolicy.class, WordReplacement.class)) {
                Path jar = Path.of(example.getProtectionDomain()
                        .getCodeSource()
                        .getLocation()
                        .toURI());
                assertTrue(jar.toString().endsWith(".jar"), jar + " is packaged");
                Path copy = Files.copy(jar, plugins.resolve(jar.getFileName()));
                Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-r--r--"));
            }
            Path toml = etc.resolve("plugins.toml");
            Files.writeString(toml, Files.readString(toml) + """
                    [[components]]
                    kind = "example_audit"
                    [components.config]
                    file = "%s"
                    [[components]]
                    kind = "example_headers"
                    [[components.config.headers]]
                    name = "x-team"
                    value = "blue"
                    [[components]]
                    kind = "example_commands"
                    [components.config]
                    deny = ['^echo']
                    [[components]]
                    kind = "example_rewriting"
                    [components.config]
                    word = "secret"
                    replacement = "public"
                    """.formatted(audit));
            Await.until(
                    () -> "the answer is rewritten\n" + mcp.process().transcript(),
                    LIMIT,
                    () -> RawHttp.post(
                                    relay.port(),
                                    "/v1/chat/completions",
                                    "{\"model\":\"m\",\"stream\":true,\"messages\":[]}",
                                    "content-type: application/json",
                                    bench.user.header())
                            .text()
                            .contains("the public word"));
            // All of them came in one change.
            assertEquals(
                    List.of("blue"),
                    bench.provider.received("/v1/chat/completions").getLast().header("x-team"));
            assertEquals(
                    "commands like ^echo are not allowed here, ask your administrator\n",
                    bench.bashHook(relay).stderr());
            assertEquals(0, mcp.end());
            Await.until(
                    "the audit log has the request",
                    LIMIT,
                    () -> Files.readString(audit).contains("\n"));
            JsonObject line = Json.parseObject(new String(Files.readAllBytes(audit), StandardCharsets.UTF_8)
                    .lines()
                    .findFirst()
                    .orElseThrow());
            assertEquals("llm", line.string("what"));
            assertEquals("openai.chat_completions", line.string("name"));
        }
    }
}
