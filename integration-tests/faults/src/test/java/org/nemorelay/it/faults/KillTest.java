package org.nemorelay.it.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Maker;

/**
 * SIGKILL of each process in each state of the route, alone and in pairs, with requests under way. It ends in the
 * documented state, in both programs.
 */
@Timeout(400)
class KillTest {
    @TempDir
    Path folder;

    /** One of each kind of recovery: by socket, by grace, by restart, by the next session. */
    @ParameterizedTest
    @CsvSource({
        "READY, DAEMON",
        "READY, WORKER",
        "READY, MCP",
        "ACTIVATING, MCP",
        "DRAINING, WORKER",
        "RECOVERING, WORKER"
    })
    void representative(State state, Victim victim) {
        run(Maker.OURS, state, Set.of(victim));
    }

    /** Report B43: what a dead daemon leaves ends by itself, holds no port, and a new daemon begins anew. */
    @Test
    @Tag("long")
    void b43WorkersOfADaemonThatNeverComesBackEnd() {
        try (Scene scene = new Scene(folder, Maker.OURS)) {
            State.READY.enter(scene);
            scene.stream("slow", 30);
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
    @MethodSource("everything")
    @Tag("long")
    void everyOneAndEveryPairInEveryState(Maker maker, State state, Set<Victim> victims) {
        run(maker, state, victims);
    }

    private void run(Maker maker, State state, Set<Victim> victims) {
        try (Scene scene = new Scene(folder, maker)) {
            state.enter(scene);
            scene.stream("slow", 30);
            scene.stream("quick", 1);
            victims.forEach(scene::kill);
            for (int i = 0; i < 3; i++) {
                scene.stream("after-" + i, 1);
            }
            scene.mend();
            scene.assertEndsWell();
        }
    }

    static List<Arguments> everything() {
        List<Arguments> cases = new ArrayList<>();
        for (Maker maker : Maker.values()) {
            for (State state : State.values()) {
                // The stock program finds its worker by itself, so nobody can hold it in its start.
                if (maker == Maker.STOCK && state == State.ACTIVATING) {
                    continue;
                }
                for (Victim one : state.present()) {
                    for (Victim other : state.present()) {
                        if (one.compareTo(other) <= 0) {
                            cases.add(Arguments.of(
                                    maker,
                                    state,
                                    Set.copyOf(List.of(one, other).stream()
                                            .distinct()
                                            .toList())));
                        }
                    }
                }
            }
        }
        return cases;
    }
}
