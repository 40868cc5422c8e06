package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Maker;
import org.nemorelay.it.Proc;

/** Sessions and groups of processes, and the ends that harnesses give to an MCP client (harnesses 6). */
@Timeout(300)
class ProcessHygieneTest {
    @TempDir
    Path folder;

    @Test
    void aWorkerHasASessionOfItsOwnAndOutlivesTheHarnessesGroupUntilTheGraceEnds() throws Exception {
        outlivesTheGroup(Maker.OURS);
    }

    @Test
    @Tag("long")
    void soDoesTheStockProgramsWorker() throws Exception {
        outlivesTheGroup(Maker.STOCK);
    }

    private void outlivesTheGroup(Maker maker) throws Exception {
        try (Scene scene = new Scene(folder, maker)) {
            State.READY.enter(scene);
            Proc harness = scene.harness();
            long worker = scene.workers().getFirst().pid();
            assertEquals(worker, session(worker), "it leads its session");
            assertNotEquals(session(harness.pid()), session(worker));
            scene.traffic.stream("slow", 30);
            Await.until(
                    scene::transcript, Scene.LIMIT, () -> scene.traffic.notes().contains("slow "));
            // The group: a negative number.
            Scene.signal(-harness.pid(), "KILL");
            Await.until("the client is gone", Scene.LIMIT, () -> scene.mcps().isEmpty());
            Await.until(
                    "the daemon notices by the socket",
                    Duration.ofSeconds(10),
                    () -> scene.daemonLog().contains("event=mcp_control_disconnected"));
            scene.traffic.awaitCallers();
            scene.traffic.assertSubmittedOnce();
            assertEquals(worker, scene.workers().getFirst().pid(), "it streamed to the end");
            Await.until(
                    () -> "the worker ends with the reference\n" + scene.transcript(),
                    Duration.ofSeconds(60),
                    () -> scene.workers().isEmpty());
            assertTrue(scene.daemonLog().contains("reason=control_disconnect_timeout"));
        }
    }

    /** What each harness does: a signal to whom, and how long after it the next one. */
    @ParameterizedTest
    @CsvSource({
        "codex, group, TERM, 50, KILL, 0, KILL",
        "claude, client, INT, 100, TERM, 400, KILL",
        "pi, client, EOF, 500, TERM, 2000, KILL"
    })
    void howeverAHarnessEndsItsClientNothingIsLeft(
            String harness, String whom, String first, int then, String second, int last, String third)
            throws Exception {
        nothingIsLeft(Maker.OURS, whom, first, then, second, last, third);
    }

    @ParameterizedTest
    @CsvSource({
        "codex, group, TERM, 50, KILL, 0, KILL",
        "claude, client, INT, 100, TERM, 400, KILL",
        "pi, client, EOF, 500, TERM, 2000, KILL"
    })
    @Tag("long")
    void norOfTheStockProgram(
            String harness, String whom, String first, int then, String second, int last, String third)
            throws Exception {
        nothingIsLeft(Maker.STOCK, whom, first, then, second, last, third);
    }

    private void nothingIsLeft(Maker maker, String whom, String first, int then, String second, int last, String third)
            throws Exception {
        try (Scene scene = new Scene(folder, maker)) {
            State.READY.enter(scene);
            long client = scene.mcps().getFirst().pid();
            long target = whom.equals("group") ? -scene.harness().pid() : client;
            if (first.equals("EOF")) {
                scene.harness().writeLine("end");
            } else {
                Scene.signal(target, first);
            }
            // The pauses are the harness's own.
            Thread.sleep(then);
            Scene.signal(target, second);
            Thread.sleep(last);
            Scene.signal(target, third);
            Await.until(
                    () -> "nothing is left\n" + scene.transcript(),
                    Duration.ofSeconds(60),
                    () -> scene.mcps().isEmpty() && scene.workers().isEmpty());
            Await.until(
                    "no route is left",
                    Scene.LIMIT,
                    () -> scene.daemon().workers().isEmpty());
        }
    }

    /** The session that a process belongs to. */
    private static long session(long pid) throws IOException {
        String stat = Files.readString(Path.of("/proc", pid + "/stat"));
        return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[3]);
    }
}
