package org.nemorelay.it.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.example.headers.HeaderInjection;
import org.nemorelay.example.policy.CommandPolicy;
import org.nemorelay.it.Await;
import org.nemorelay.it.Events;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonObject;

/**
 * In a real session, plugins that the administrator deploys during its first request act on its next step: two of the SDK's
 * examples, and {@code pii_redaction}.
 */
class DeployedWhileRunningTest {
    private static final Duration RUN = Duration.ofSeconds(90);
    private static final String ADDRESS = "jane.doe@example.org";
    private static final String TEXT = "write to " + ADDRESS;
    private static final String REASON = "commands like ^touch are not allowed here, ask your administrator";
    private static final String COMPONENTS = """
            [[components]]
            kind = "example_headers"
            [[components.config.headers]]
            name = "x-team"
            value = "blue"
            [[components]]
            kind = "example_commands"
            [components.config]
            deny = ["^touch"]
            [[components]]
            kind = "pii_redaction"
            [components.config.builtin]
            action = "redact"
            detector = "email"
            """;

    @TempDir
    Path folder;

    @ParameterizedTest
    @EnumSource(names = {"CODEX", "CLAUDE_CODE"})
    void aBlockedToolCallARewrittenHeaderAndARedactedRecord(Harness harness) throws Exception {
        Path touched = folder.resolve(ADDRESS);
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch deployed = new CountDownLatch(1);
        MockProvider.Responder answer = harness.toolThenText("touch " + touched, TEXT);
        try (Bench bench = new Bench(folder, "").respond(harness, (request, reply) -> {
                    asked.countDown();
                    deployed.await();
                    answer.respond(request, reply);
                });
                McpSession held = McpSession.initialized(bench.user, bench.executable, bench.relay)) {
            bench.relay.awaitReadyWorker(held);
            try (Proc session = harness.session(bench).start()) {
                session.closeInput();
                Await.until(() -> "the provider is asked\n" + session.transcript(), RUN, () -> asked.getCount() == 0);
                deploy(bench, held);
                deployed.countDown();
                assertEquals(0, session.awaitExit(RUN), session::transcript);
                harness.shows(TEXT, new Proc.Result(0, session.stdout(), session.stderr()));
            }

            List<MockProvider.Received> requests = bench.behindTheWorker.received(harness.path);
            assertEquals(2, requests.size());
            assertEquals(List.of(), requests.getFirst().header("x-team"));
            assertEquals(List.of("blue"), requests.getLast().header("x-team"));
            assertFalse(Files.exists(touched), "the tool call was blocked");
            assertTrue(
                    requests.getLast().bodyText().contains(REASON),
                    requests.getLast().bodyText());

            Events.await(bench.events, "turn end", Events.scope(harness.agent + "-turn", "end"));
            assertTrue(requests.getLast().bodyText().contains(ADDRESS), "what is sent stays as it is");
            List<JsonObject> starts = events(bench, harness, "start");
            List<JsonObject> ends = events(bench, harness, "end");
            assertEquals(List.of(2, 2), List.of(starts.size(), ends.size()));
            assertFalse(text(starts.getFirst()).contains("[REDACTED]"), text(starts.getFirst()));
            // The answer in which the plugin came, and the one after it.
            for (JsonObject event : List.of(ends.getFirst(), ends.getLast())) {
                assertTrue(text(event).contains("[REDACTED]"), text(event));
                assertFalse(text(event).contains(ADDRESS), text(event));
            }
            // The request between them, of which only what is new in the conversation is recorded.
            assertFalse(text(starts.getLast()).contains(ADDRESS), text(starts.getLast()));
        }
    }

    /** As an administrator would: jars into the plugin folder, components into plugins.toml, then a look at their state. */
    private static void deploy(Bench bench, McpSession held) throws Exception {
        Path etc = bench.executable.resolve("../../etc").normalize();
        Path plugins = Files.createDirectories(etc.resolve("plugins"));
        Files.setPosixFilePermissions(plugins, PosixFilePermissions.fromString("rwxr-xr-x"));
        for (Class<?> example : List.of(HeaderInjection.class, CommandPolicy.class)) {
            Path jar = Path.of(
                    example.getProtectionDomain().getCodeSource().getLocation().toURI());
            Path target = Files.copy(jar, plugins.resolve(jar.getFileName()));
            Files.setPosixFilePermissions(target, PosixFilePermissions.fromString("rw-r--r--"));
        }
        Path toml = etc.resolve("plugins.toml");
        Files.writeString(toml, Files.readString(toml) + COMPONENTS);
        Await.until(
                () -> "three plugins are active\n"
                        + list(bench).stream().map(JsonObject::values).toList() + "\n"
                        + held.process().transcript(),
                RUN,
                () -> list(bench).stream()
                                .filter(line -> line.string("state").equals("active"))
                                .map(line -> line.string("kind"))
                                .filter(List.of("example_headers", "example_commands", "pii_redaction")::contains)
                                .count()
                        == 3);
    }

    private static List<JsonObject> list(Bench bench) {
        Proc.Result result = bench.user
                .withToken(bench.executable.toString(), "plugins", "list", "--json")
                .command("--port", Integer.toString(bench.relay.port()))
                .run(RUN);
        return ((List<?>) Json.parse(result.stdout().getBytes(StandardCharsets.UTF_8)))
                .stream().map(line -> JsonObject.of(line, "")).toList();
    }

    private static List<JsonObject> events(Bench bench, Harness harness, String category) {
        return Events.in(bench.events).stream()
                .filter(Events.scope(harness.api, category))
                .toList();
    }

    private static String text(JsonObject event) {
        return Json.write(event.values());
    }
}
