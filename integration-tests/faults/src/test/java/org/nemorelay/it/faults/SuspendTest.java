package org.nemorelay.it.faults;

import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Maker;

/** SIGSTOP for longer than a timer: of 5 s (acknowledgement, authentication), of 30 s (grace), of two minutes (drain). */
@Timeout(500)
class SuspendTest {
    @TempDir
    Path folder;

    @ParameterizedTest
    @CsvSource({"READY, WORKER", "READY, DAEMON"})
    void longerThanAnAcknowledgement(State state, Victim victim) throws Exception {
        run(Maker.OURS, state, victim, 8);
    }

    @Test
    @Tag("long")
    void aStartingClientLongerThanAnAcknowledgement() throws Exception {
        run(Maker.OURS, State.ACTIVATING, Victim.MCP, 8);
    }

    @ParameterizedTest
    @EnumSource(Victim.class)
    @Tag("long")
    void longerThanTheGrace(Victim victim) throws Exception {
        run(Maker.OURS, State.READY, victim, 40);
    }

    @ParameterizedTest
    @EnumSource(Victim.class)
    @Tag("long")
    void theStockProgramLongerThanTheGrace(Victim victim) throws Exception {
        run(Maker.STOCK, State.READY, victim, 40);
    }

    /** The deadline ends the drain without the worker's help; when it goes on it finds nobody and ends. */
    @Test
    @Tag("long")
    void aDrainingWorkerLongerThanItsDrain() throws Exception {
        try (Scene scene = new Scene(folder, Maker.OURS)) {
            State.DRAINING.enter(scene);
            scene.suspend(Victim.WORKER, true);
            Await.until(
                    scene::transcript,
                    java.time.Duration.ofSeconds(150),
                    () -> scene.daemonLog().contains("reason=drain_deadline_reached"));
            scene.awaitReady();
            scene.mend();
            scene.assertEndsWell();
        }
    }

    private void run(Maker maker, State state, Victim victim, int seconds) throws Exception {
        try (Scene scene = new Scene(folder, maker)) {
            state.enter(scene);
            scene.stream("slow", 30);
            Await.until(scene::transcript, Scene.LIMIT, () -> scene.notes().contains("slow "));
            scene.suspend(victim, true);
            scene.stream("meanwhile", 1);
            // The time itself is what is tested.
            Thread.sleep(seconds * 1_000L);
            scene.suspend(victim, false);
            scene.stream("after", 1);
            scene.mend();
            scene.assertEndsWell();
        }
    }
}
