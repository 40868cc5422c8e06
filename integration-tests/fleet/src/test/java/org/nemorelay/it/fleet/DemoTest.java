package org.nemorelay.it.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

class DemoTest {
    private static final Duration MINUTE = Duration.ofMinutes(1);

    @TempDir
    Path folder;

    private Proc.Spec demo(String... options) {
        return Proc.spec()
                .command(Distribution.tree().resolve("bin/nemo-relay").toString(), "demo", "carriers")
                .command(options)
                .env("HOME", folder.toString())
                .env("TMPDIR", folder.toString());
    }

    private static void flawless(JsonObject counts) {
        for (String none : List.of("missing", "doubled", "jobs_failed", "jobs_doubled", "calls_unexplained")) {
            assertEquals(
                    0, counts.integer(none, 0, Long.MAX_VALUE), counts.values().toString());
        }
        assertEquals(counts.integer("jobs_accepted", 1, Long.MAX_VALUE), counts.integer("jobs_run", 1, Long.MAX_VALUE));
        assertTrue(
                counts.integer("published", 0, Long.MAX_VALUE) > 100
                        && counts.integer("calls", 0, Long.MAX_VALUE) > 100,
                counts.values().toString());
    }

    /** A path with every program but the server. */
    private String pathWithoutServer() throws IOException {
        Path programs = Files.createDirectory(folder.resolve("programs"));
        try (var all = Files.newDirectoryStream(Path.of("/usr/bin"))) {
            for (Path program : all) {
                if (!program.endsWith("nats-server")) {
                    Files.createSymbolicLink(programs.resolve(program.getFileName()), program);
                }
            }
        }
        return programs.toString();
    }

    @Test
    void withoutAServerBothCarriersAreWithinTheProcess() throws IOException {
        String path = pathWithoutServer();
        Proc.Result drawn = demo("--swaps", "2").env("PATH", path).run(MINUTE);
        assertEquals(0, drawn.exit(), drawn.toString());
        assertTrue(drawn.stdout().contains("nats-server is not installed"), drawn.stdout());
        assertTrue(drawn.stdout().contains("2/2  local-2 -> local"), drawn.stdout());
        Proc.Result counted = demo("--json").env("PATH", path).run(MINUTE);
        assertEquals(0, counted.exit(), counted.toString());
        JsonObject counts = Json.parseObject(counted.stdout());
        assertEquals(List.of("local", "local-2"), counts.strings("carriers"));
        assertEquals(20, counts.integer("swaps", 0, 100));
        flawless(counts);
    }

    @Test
    void nothingIsLostWhileCarriersChange() {
        Proc.Result result = demo("--swaps", "6", "--json").run(MINUTE);
        assertEquals(0, result.exit(), result.toString());
        JsonObject counts = Json.parseObject(result.stdout());
        assertEquals(
                List.of(
                        "swaps",
                        "published",
                        "missing",
                        "doubled",
                        "jobs_accepted",
                        "jobs_run",
                        "jobs_failed",
                        "jobs_doubled",
                        "calls",
                        "calls_typed_failures",
                        "calls_unexplained",
                        "carriers"),
                List.copyOf(counts.keys()));
        assertEquals(6, counts.integer("swaps", 0, 100));
        assertTrue(counts.integer("published", 0, Long.MAX_VALUE) > 600, result.stdout());
        flawless(counts);
        assertEquals(2, counts.strings("carriers").size());
    }

    @Test
    void everyChangeIsDrawn() {
        Proc.Result result = demo("--swaps", "2").run(MINUTE);
        assertEquals(0, result.exit(), result.toString());
        assertTrue(result.stdout().contains("1/2") && result.stdout().contains("2/2"), result.stdout());
        assertTrue(result.stdout().contains("Nothing was lost"), result.stdout());
    }

    @Test
    void aCountThatIsNone() {
        for (String swaps : List.of("0", "-1", "many", "1001")) {
            Proc.Result result = demo("--swaps", swaps).run(MINUTE);
            assertEquals(2, result.exit(), swaps + ": " + result);
            assertTrue(result.stderr().contains("--swaps"), result.stderr());
        }
    }
}
