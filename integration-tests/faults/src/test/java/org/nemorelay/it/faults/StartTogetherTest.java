package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
 * 64 sessions of one machine start at once: all answer {@code initialize} within 30 s of their common start, and the daemon
 * refuses none. Long because it needs the machine for itself; the daemon's side of it is in every run of the {@code daemon}
 * bundle's tests.
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
                long start = System.nanoTime();
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
                long took = (System.nanoTime() - start) / 1_000_000;
                assertTrue(took <= 30_000, "the last of them answered after " + took + " ms");
                assertFalse(
                        scene.daemon().process().stderr().contains("control_upgrade_refused"),
                        scene.daemon().process()::transcript);
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
