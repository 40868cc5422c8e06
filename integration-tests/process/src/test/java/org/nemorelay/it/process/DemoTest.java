package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.User;
import org.nemorelay.json.Json;

/** The demo as a stranger runs it: nothing set up, nothing left. */
class DemoTest {
    @TempDir
    Path folder;

    @Test
    void namesEveryHopAndLeavesNothing() throws IOException {
        Proc.Result demo = run("demo");
        assertEquals(0, demo.exit(), demo.toString());
        String told = demo.stdout().toLowerCase(Locale.ROOT);
        for (String hop : List.of("harness", "mcp", "daemon", "worker", "plugin", "provider", "hook")) {
            assertTrue(told.contains(hop), hop + " is not in: " + demo.stdout());
        }
        assertFalse(demo.stderr().contains("\tat "), demo.stderr());
        nothingIsLeft();
    }

    @Test
    void tellsTheSameAsJson() throws IOException {
        Proc.Result demo = run("demo", "--json");
        assertEquals(0, demo.exit(), demo.toString());
        assertFalse(Json.parseObject(demo.stdout().strip()).keys().isEmpty(), demo.stdout());
        nothingIsLeft();
    }

    @Test
    void failsWithTheReasonWhereAHopIsMissing() throws IOException {
        Path tree = Distribution.privateTree(folder.resolve("tree"), "", "version = 1\n");
        try (Stream<Path> plugins = Files.list(tree.resolve("plugins"))) {
            for (Path plugin : plugins.toList()) {
                Files.delete(plugin);
            }
        }
        Proc.Result demo = runFrom(tree, "demo");
        assertEquals(1, demo.exit(), demo.toString());
        assertTrue((demo.stdout() + demo.stderr()).contains("observability"), demo.toString());
        nothingIsLeft();
    }

    @Test
    void leavesNoProcessWhenItIsKilled() throws IOException {
        Path temporary = Files.createDirectories(folder.resolve("tmp"));
        try (Proc demo = User.self(folder.resolve("home"))
                .spec(Distribution.tree().resolve("bin/nemo-relay").toString(), "demo")
                .env("TMPDIR", temporary.toString())
                .start()) {
            Await.until(
                    "demo, daemon, client and worker run",
                    Duration.ofSeconds(30),
                    () -> ProcessTable.mentioning(temporary.toString()).size() >= 3);
            demo.signal("KILL");
            Await.until(
                    () -> "no process is left of " + ProcessTable.mentioning(temporary.toString()),
                    Duration.ofSeconds(20),
                    () -> ProcessTable.mentioning(temporary.toString()).isEmpty());
        }
    }

    private Proc.Result run(String... arguments) throws IOException {
        return runFrom(Distribution.tree(), arguments);
    }

    private Proc.Result runFrom(Path tree, String... arguments) throws IOException {
        Path temporary = Files.createDirectories(folder.resolve("tmp"));
        return User.self(folder.resolve("home"))
                .spec(tree.resolve("bin/nemo-relay").toString())
                .command(arguments)
                .env("TMPDIR", temporary.toString())
                .run(Duration.ofSeconds(60));
    }

    private void nothingIsLeft() throws IOException {
        assertEquals(List.of(), ProcessTable.mentioning(folder.toString()));
        for (String place : List.of("tmp", "home")) {
            try (Stream<Path> left = Files.list(folder.resolve(place))) {
                assertEquals(List.of(), left.toList());
            }
        }
    }
}
