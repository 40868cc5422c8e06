package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.Requirement;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/** The disk that events are written to is full: everything serves, and the plugin is failing until there is room again. */
@Timeout(240)
class RecordsDiskFullTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    @TempDir
    Path folder;

    private Path disk;

    @BeforeEach
    void mount() throws IOException {
        Requirement.root("to mount a small disk");
        disk = Files.createDirectory(folder.resolve("disk"));
        assertEquals(
                0,
                Proc.spec()
                        .command("mount", "-t", "tmpfs", "-o", "size=64k,mode=0700", "tmpfs", disk.toString())
                        .run(LIMIT)
                        .exit());
        Files.createSymbolicLink(folder.resolve("events.jsonl"), disk.resolve("events.jsonl"));
    }

    @AfterEach
    void unmount() {
        Proc.spec().command("umount", "-l", disk.toString()).run(LIMIT);
    }

    @Test
    void isSaidWhileItLasts() throws Exception {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon();
                McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
            relay.awaitReadyWorker(mcp);
            await(bench, relay, plugin -> plugin.string("state").equals("active"));
            Path fill = disk.resolve("fill");
            try (OutputStream out = Files.newOutputStream(fill)) {
                while (true) {
                    out.write(new byte[512]);
                }
            } catch (IOException full) {
                // As wanted.
            }
            // What fits into the last page of the file is still written.
            JsonObject failing = await(bench, relay, plugin -> {
                ask(bench, relay);
                return plugin.string("state").equals("failing");
            });
            String reason = failing.string("reason");
            assertTrue(reason.contains("No space left on device") && reason.contains("events.jsonl"), reason);
            Proc.Result list = bench.user
                    .withToken(bench.executable.toString(), "plugins", "list", "--json", "--port", "" + relay.port())
                    .run(LIMIT);
            assertTrue(list.stdout().contains("\"failing\"") && list.stdout().contains(reason), list.toString());
            for (int i = 0; i < 3; i++) {
                ask(bench, relay);
            }
            assertEquals(
                    1,
                    lines(relay, "event=worker_plugin_failing"),
                    relay.process().transcript());
            Files.delete(fill);
            JsonObject active = await(bench, relay, plugin -> {
                ask(bench, relay);
                return plugin.string("state").equals("active");
            });
            assertEquals("", active.string("reason"));
            assertEquals(
                    1,
                    lines(relay, "event=worker_plugin_recovered"),
                    relay.process().transcript());
            assertEquals(
                    1,
                    lines(relay, "event=worker_plugin_failing"),
                    relay.process().transcript());
            for (String line : Files.readAllLines(disk.resolve("events.jsonl"))) {
                Json.parseObject(line);
            }
            assertEquals(0, mcp.end());
        }
    }

    private static void ask(OneUser bench, Relay relay) {
        assertEquals(
                200,
                RawHttp.post(relay.port(), "/v1/messages", "{}", bench.user.header())
                        .status());
    }

    private static JsonObject await(OneUser bench, Relay relay, Predicate<JsonObject> state) {
        return Await.value(
                () -> "the plugin's state\n" + relay.process().transcript(), LIMIT, () -> plugin(bench, relay, state));
    }

    private static JsonObject plugin(OneUser bench, Relay relay, Predicate<JsonObject> state) {
        Proc.Result status = bench.user
                .withToken(bench.executable.toString(), "status", "--json", "--port", "" + relay.port())
                .run(LIMIT);
        return Json.parseObject(status.stdout().strip()).objects("plugins").stream()
                .filter(one -> one.string("kind").equals("observability"))
                .filter(state)
                .findFirst()
                .orElse(null);
    }

    private static long lines(Relay relay, String event) {
        return relay.process()
                .stderr()
                .lines()
                .filter(line -> line.contains(event))
                .count();
    }
}
