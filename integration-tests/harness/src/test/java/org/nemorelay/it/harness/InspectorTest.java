package org.nemorelay.it.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.it.ExternalTool;
import org.nemorelay.it.Proc;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** The MCP inspector as a client of either era, with a daemon behind the lifecycle client. */
class InspectorTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    @TempDir
    Path folder;

    /** {@code auto} asks for the modern era first and falls back. */
    @ParameterizedTest
    @ValueSource(strings = {"legacy", "auto"})
    void speaksTheErasWithASession(String era) throws Exception {
        try (Bench bench = new Bench(folder, "")) {
            JsonObject result = result(inspect(bench, era, "initialize"));
            assertEquals("2025-11-25", result.string("protocolVersion"));
            assertEquals("nemo-relay", result.object("serverInfo").string("name"));
            assertEquals(List.of(), result(inspect(bench, era, "tools/list")).array("tools"));
            assertEquals(era.equals("auto"), said().contains("-32601"), said());
            bench.awaitNothingLeft();
        }
    }

    @Test
    void theModernEraAloneIsRefused() throws Exception {
        try (Bench bench = new Bench(folder, "")) {
            Proc.Result result = inspect(bench, "modern", "initialize");
            assertEquals(1, result.exit(), result.toString());
            List<JsonObject> answers = said().lines().map(Json::parseObject).toList();
            assertFalse(answers.isEmpty());
            for (JsonObject answer : answers) {
                assertEquals(-32601, answer.object("error").integer("code", -40000, 0), said());
            }
            bench.awaitNothingLeft();
        }
    }

    private Proc.Result inspect(Bench bench, String era, String method) {
        return bench.user
                .withToken(ExternalTool.INSPECTOR.require().toString(), "--cli", "--protocol-era", era)
                .command("sh", "-c", "\"$@\" | tee -a '" + folder.resolve("said") + "'", "server")
                .command(bench.executable.toString())
                .command(bench.lifecycle())
                .command("--method", method, "--format", "json")
                .run(LIMIT);
    }

    /** What the lifecycle client wrote to its standard output. */
    private String said() throws Exception {
        return Files.readString(folder.resolve("said"));
    }

    private static JsonObject result(Proc.Result inspector) {
        assertEquals(0, inspector.exit(), inspector.toString());
        assertTrue(inspector.stdout().startsWith("{"), inspector.toString());
        return Json.parseObject(inspector.stdout()).object("result");
    }
}
