package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.nemorelay.it.Maker;
import org.nemorelay.it.McpSession;

/**
 * 64 sessions of one machine start at once: each client has 30 s for its registration, and none is refused. Long because it
 * needs the machine for itself; the daemon's side of it is in every run of the {@code daemon} bundle's tests.
 */
@Tag("long")
@Isolated("the machine is busy enough with 64 clients")
@Timeout(300)
class StartTogetherTest {
    @TempDir
    Path folder;

    @Test
    void sixtyFourSessionsAllAnswerInitialize() {
        List<McpSession> sessions = new ArrayList<>();
        try (Scene scene = new Scene(folder, Maker.OURS)) {
            try {
                for (int i = 0; i < 64; i++) {
                    sessions.add(McpSession.start(scene.user(), scene.executable(), scene.daemon()));
                }
                for (McpSession session : sessions) {
                    assertEquals(
                            "nemo-relay",
                            session.initialize()
                                    .object("result")
                                    .object("serverInfo")
                                    .string("name"));
                }
                for (McpSession session : sessions) {
                    // A client that was refused says so, and tries again.
                    assertFalse(
                            session.process().stderr().contains("takes no more control connections"),
                            session.process()::transcript);
                }
                scene.awaitReady();
                assertEquals(1, scene.workers().size());
                sessions.forEach(session -> assertEquals(0, end(session)));
            } finally {
                sessions.forEach(McpSession::close);
            }
        }
    }

    private static int end(McpSession session) {
        session.process().closeInput();
        return session.process().awaitExit(Duration.ofSeconds(30));
    }
}
