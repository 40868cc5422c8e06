package org.nemorelay.it.harness;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.it.Events;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.json.JsonObject;

/** Real Codex, Claude Code and Pi sessions whose shell the administrator's policy denies, and the same sessions without it. */
class BlockedToolTest {
    private static final Duration RUN = Duration.ofSeconds(60);
    private static final String TEXT = "MOCK-FINAL-TEXT";
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
    @EnumSource
    void denied(Harness harness) {
        run(harness, true);
    }

    @ParameterizedTest
    @EnumSource
    void allowedWithoutThePolicy(Harness harness) {
        run(harness, false);
    }

    private void run(Harness harness, boolean denied) {
        Path touched = folder.resolve("touched");
        String reason = REASON + harness.shell;
        try (Bench bench = new Bench(folder, denied ? DENY_BASH : "")
                        .respond(harness, harness.toolThenText("touch " + touched, TEXT));
                McpSession held = McpSession.initialized(bench.user, bench.executable, bench.relay)) {
            bench.relay.awaitReadyWorker(held);
            Proc.Result result = harness.session(bench).run(RUN);
            assertEquals(0, result.exit(), result.toString());
            harness.shows(TEXT, result);

            List<MockProvider.Received> requests = bench.behindTheWorker.received(harness.path);
            assertEquals(2, requests.size());
            assertEquals(
                    denied,
                    requests.getLast().bodyText().contains(reason),
                    requests.getLast().bodyText());
            assertEquals(!denied, Files.exists(touched));

            Path events = bench.events;
            if (denied) {
                JsonObject rejected = Events.await(events, "rejected call", Events.scope(harness.shell, ""));
                assertEquals(reason, rejected.object("data").string("rejection_reason"));
                Events.await(events, "guardrail", Events.scope("tool_policy", "end"));
                assertFalse(Events.in(events).stream().anyMatch(Events.scope(harness.shell, "start")));
            } else {
                Events.await(events, "tool end", Events.scope(harness.shell, "end"));
            }
            String sessionId = Events.await(events, "turn end", Events.scope(harness.agent + "-turn", "end"))
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
