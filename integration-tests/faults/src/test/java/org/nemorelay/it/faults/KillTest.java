package org.nemorelay.it.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Maker;

/**
 * SIGKILL of each process in each state of the route, alone and in pairs, with requests under way. It ends in the
 * documented state, in both programs. What was run, and how it ended, is in {@code target/kill-matrix.md}.
 */
@Timeout(700)
class KillTest {
    private static final Map<Fault, String> RESULTS = new ConcurrentHashMap<>();

    @TempDir
    Path folder;

    /** One in each state: recovery by socket, by grace, by restart, by the next session. */
    @ParameterizedTest
    @CsvSource({
        "EMPTY, MCP",
        "ACTIVATING, MCP",
        "READY, DAEMON",
        "DRAINING, WORKER",
        "PASS_THROUGH, HARNESS",
        "RECOVERING, WORKER"
    })
    void representative(State state, Victim victim) {
        run(new Fault(Maker.OURS, state, EnumSet.of(victim), Fault.Next.AT_ONCE));
    }

    /** Report B43: what a dead daemon leaves ends by itself, holds no port, and a new daemon begins anew. */
    @Test
    @Tag("long")
    void b43WorkersOfADaemonThatNeverComesBackEnd() {
        try (Scene scene = new Scene(folder, Maker.OURS)) {
            State.READY.enter(scene);
            scene.traffic.stream("slow", 30);
            scene.kill(Victim.DAEMON);
            Await.until(
                    () -> "worker and client have ended\n" + scene.workers() + scene.mcps(),
                    Duration.ofSeconds(90),
                    () -> scene.workers().isEmpty() && scene.mcps().isEmpty());
            scene.mend();
            scene.assertEndsWell();
        }
    }

    @ParameterizedTest
    @MethodSource
    @Tag("long")
    void everyOneAndEveryPairInEveryState(Fault fault) {
        run(fault);
    }

    static List<Fault> everyOneAndEveryPairInEveryState() {
        return Fault.matrix(Maker.OURS);
    }

    @ParameterizedTest
    @MethodSource
    @Tag("long")
    void theStockProgram(Fault fault) {
        run(fault);
    }

    static List<Fault> theStockProgram() {
        return Fault.matrix(Maker.STOCK);
    }

    private void run(Fault fault) {
        RESULTS.put(fault, "FAILED");
        long begun = System.nanoTime();
        String how = "";
        try (Scene scene = new Scene(folder, fault.maker())) {
            fault.state().enter(scene);
            scene.traffic.stream("slow", 50);
            scene.traffic.awaitSubmitted("slow");
            scene.traffic.stream("quick", 1);
            scene.remember();
            fault.victims().forEach(scene::kill);
            for (int i = 0; i < 3; i++) {
                scene.traffic.stream("after-" + i, 1);
            }
            scene.supervise();
            scene.letGo();
            if (!fault.sessionLives() && fault.next() == Fault.Next.AT_ONCE) {
                scene.startHarness();
            }
            if (scene.daemonWasAwayForTheGrace()) {
                // A machine that is so busy: its clients have given up, or are about to.
                scene.awaitServed();
                how = ", whatever the ending: the daemon needed too long to start";
            } else {
                scene.await(fault.ending());
            }
            scene.traffic.assertAnswered("slow", fault.streamSurvives());
            if (fault.state() == State.DRAINING) {
                scene.traffic.assertAnswered("draining", fault.drainingStreamSurvives());
            }
            if (fault.requestsSurvive()) {
                List.of("quick", "after-0", "after-1", "after-2").forEach(id -> scene.traffic.assertAnswered(id, true));
            }
            if (scene.mcps().isEmpty()) {
                scene.startHarness();
            }
            scene.assertEndsWell();
        }
        RESULTS.put(fault, (System.nanoTime() - begun) / 1_000_000_000 + " s" + how);
    }

    @AfterAll
    static void table() throws IOException {
        Files.writeString(Path.of("target/kill-matrix.md"), Fault.table(RESULTS));
    }
}
