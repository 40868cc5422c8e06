package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.HookPolicy;
import org.nemorelay.plugin.api.PluginConfig;
import org.nemorelay.plugin.api.ToolCall;

/** {@code plugins list|validate|inspect} and {@code config show}: without a worker nothing runs, with one its state is there too. */
@Timeout(300)
class PluginCommandsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String COMPONENT = """
            [[components]]
            kind = "marking"
            required = false
            [components.config]
            file = "%s"
            api_key = "s3cret"
            """;

    @TempDir
    Path folder;

    @Test
    void withoutAWorkerNothingRunsAndWithOneItsStateIsThereToo() throws Exception {
        Path mark = folder.resolve("mark");
        try (OneUser bench = new OneUser(folder, COMPONENT.formatted(mark))) {
            Path etc = bench.executable.resolve("../../etc").normalize();
            Path jar = new PluginJar("marking", Marking.class, HookPolicy.class).deploy(etc.resolve("plugins"));
            new PluginJar("lying", Marking.class, HookPolicy.class).deploy(etc.resolve("plugins"));
            // What a user puts beside the own configuration is nobody's plugin.
            new PluginJar("users_own", Marking.class, HookPolicy.class)
                    .deploy(bench.user.home().resolve(".config/nemo-relay/plugins"));
            int first = Relay.observabilityToml(folder).split("\n").length + 1;
            String port = Integer.toString(Relay.freePort());

            List<JsonObject> found = objects(run(bench, 0, "plugins", "list", "--json", "--port", port));
            for (JsonObject line : found) {
                assertTrue(
                        line.values().keySet().containsAll(Set.of("kind", "version", "state", "file", "reason")),
                        line.toString());
                assertEquals("check", line.string("source"));
                assertFalse(line.has("worker_id"));
            }
            assertTrue(found.stream().noneMatch(line -> line.string("kind").equals("users_own")), found::toString);
            JsonObject idle = of(found, "lying");
            assertEquals(List.of("idle", "1.0.0"), List.of(idle.string("state"), idle.string("version")));
            assertEquals(jar.toString(), of(found, "marking").string("file"));
            assertTrue(run(bench, 0, "plugins", "list", "--port", port)
                    .stdout()
                    .lines()
                    .anyMatch(line -> line.matches("marking +1\\.0\\.0 +idle +check +.*marking\\.jar +-")));

            assertTrue(run(bench, 0, "plugins", "validate").stdout().contains("ok: plugin \"marking\" 1.0.0 (" + jar));
            JsonObject valid = Json.parseObject(
                    run(bench, 0, "plugins", "validate", "--json").stdout().strip());
            assertTrue(valid.bool("valid"));
            Path lacking = new PluginJar("lacking", Marking.class, HookPolicy.class)
                    .header("Import-Package", "org.nemorelay.plugin.api,com.missing")
                    .write(folder.resolve("lacking.jar"));
            assertEquals(
                    "plugin file " + lacking + " needs the package com.missing, which nothing here provides; build it"
                            + " for this version or add what it needs\n",
                    run(bench, 1, "plugins", "validate", lacking.toString()).stdout());
            String folderRefused =
                    run(bench, 1, "plugins", "validate", folder.toString()).stderr();
            assertTrue(folderRefused.contains(folder + " is a folder, name the jar in it"), folderRefused);

            JsonObject one = Json.parseObject(run(bench, 0, "plugins", "inspect", "marking", "--json", "--port", port)
                    .stdout()
                    .strip());
            assertEquals(jar.toString(), one.string("file"));
            assertEquals(etc.resolve("plugins.toml") + ":" + first + ":1", one.string("planned_at"));
            assertFalse(one.bool("required"));
            assertEquals(List.of(), one.objects("workers"));
            assertEquals(
                    List.of(
                            "api_key [REDACTED] " + etc.resolve("plugins.toml") + ":" + (first + 5) + ":1",
                            "file " + mark + " " + etc.resolve("plugins.toml") + ":" + (first + 4) + ":1"),
                    one.objects("configuration").stream()
                            .map(value ->
                                    value.string("key") + " " + value.string("value") + " " + value.string("source"))
                            .toList());

            String shown = run(bench, 0, "config", "show", "--origin").stdout();
            assertTrue(
                    shown.lines()
                            .anyMatch(line -> line.matches("marking\\.file = \"" + mark + "\" +# "
                                    + etc.resolve("plugins.toml") + ":" + (first + 4) + ":1")),
                    shown);
            assertTrue(
                    shown.lines()
                            .anyMatch(line -> line.startsWith("upstream.openai_base_url = ")
                                    && line.contains("# " + etc.resolve("config.toml") + ":")),
                    shown);
            assertTrue(shown.lines().anyMatch(line -> line.endsWith("# default")), shown);
            assertFalse(run(bench, 0, "config", "show").stdout().contains("# default"));
            assertFalse(shown.contains("s3cret"));
            assertFalse(Files.exists(mark), "nothing of a plugin ran");

            try (Relay relay = bench.daemon();
                    McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
                relay.awaitReadyWorker(mcp);
                assertTrue(Files.exists(mark), "the worker runs it");
                Await.until(
                        () -> "the worker's line and the check's\n" + list(bench, relay),
                        LIMIT,
                        () -> list(bench, relay).stream()
                                .filter(line -> line.string("kind").equals("marking"))
                                .map(line -> line.string("state") + " " + line.string("source"))
                                .toList()
                                .equals(List.of("active worker", "idle check")));
            }
        }
    }

    private static List<JsonObject> list(OneUser bench, Relay relay) {
        return objects(run(bench, 0, "plugins", "list", "--json", "--port", "" + relay.port()));
    }

    private static JsonObject of(List<JsonObject> lines, String kind) {
        return lines.stream()
                .filter(line -> line.string("kind").equals(kind))
                .findFirst()
                .orElseThrow(() -> new AssertionError(kind + " not in " + lines));
    }

    private static List<JsonObject> objects(Proc.Result result) {
        List<JsonObject> all = new ArrayList<>();
        ((List<?>) Json.parse(result.stdout().getBytes(StandardCharsets.UTF_8)))
                .forEach(one -> all.add(JsonObject.of(one, "")));
        return all;
    }

    private static Proc.Result run(OneUser bench, int exit, String... words) {
        Proc.Result result =
                bench.user.withToken(bench.executable.toString()).command(words).run(LIMIT);
        assertEquals(exit, result.exit(), result::toString);
        return result;
    }

    /** Leaves a file where it starts. */
    public static final class Marking implements HookPolicy {
        public Marking(Map<String, Object> properties) throws Exception {
            Files.writeString(Path.of(PluginConfig.of(properties).string("file")), "started");
        }

        @Override
        public CompletionStage<Decision> decide(ToolCall call) {
            return CompletableFuture.completedStage(Decision.allow());
        }
    }
}
