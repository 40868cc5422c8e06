package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Maker;
import org.nemorelay.it.Proc;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/** Somebody else holds the daemon's port and answers 200 to everything (report B41). */
@Timeout(300)
class StrangerOnThePortTest {
    @TempDir
    Path folder;

    /** Nothing secret is told to it, nobody takes it for the daemon, and when it has gone everything goes on. */
    @Test
    void itIsNotTakenForTheDaemonAndLearnsNothing() throws Exception {
        learnsNothing(Maker.OURS);
    }

    @Test
    @Tag("long")
    void theStockProgramTellsItNothing() throws Exception {
        learnsNothing(Maker.STOCK);
    }

    /** Whatever the route was doing when the daemon went. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "READY")
    @Tag("long")
    void itIsNotTakenForTheDaemonInAnyState(State state) throws Exception {
        learnsNothing(Maker.OURS, state);
    }

    private void learnsNothing(Maker maker) throws Exception {
        learnsNothing(maker, State.READY);
    }

    private void learnsNothing(Maker maker, State state) throws Exception {
        try (Scene scene = new Scene(folder, maker)) {
            state.enter(scene);
            scene.kill(Victim.DAEMON);
            Path heard = folder.resolve("heard");
            try (Proc stranger = stranger(scene.port(), heard)) {
                scene.letGo();
                Await.until(
                        () -> "client and worker have asked it\n" + scene.transcript(),
                        Duration.ofSeconds(60),
                        () -> Files.readString(heard).contains("/control/v1/mcp")
                                && (state != State.READY
                                        || Files.readString(heard).contains("/control/v1/worker")));
                assertFalse(Files.readString(heard).contains(scene.user().token()), "the token stays here");
                assertTrue(stranger.alive(), "nobody kills it");
            }
            scene.supervise();
            scene.awaitServed();
            scene.assertEndsWell();
        }
    }

    /** The port of a worker that has died is somebody else's: nothing is asked of him, by this daemon or the next. */
    @Test
    void whoeverTakesTheDeadWorkersPortIsAskedNothing() throws Exception {
        isAskedNothing(Maker.OURS);
    }

    @Test
    @Tag("long")
    void theStockProgramAsksHimNothing() throws Exception {
        isAskedNothing(Maker.STOCK);
    }

    private void isAskedNothing(Maker maker) throws Exception {
        try (Scene scene = new Scene(folder, maker)) {
            State.READY.enter(scene);
            // A connection between daemon and worker stays open for the next request.
            scene.traffic.stream("before", 1);
            scene.traffic.assertAnswered("before", true);
            long worker = scene.workers().getFirst().pid();
            int port = ProcessTable.listeningPorts(worker).getFirst();
            Path heard = folder.resolve("heard");
            Scene.signal(worker, "KILL");
            try (Proc stranger = stranger(port, heard)) {
                for (int i = 0; i < 10; i++) {
                    scene.traffic.stream("meanwhile-" + i, 1);
                    scene.traffic.assertAnswered("meanwhile-" + i, true);
                }
                scene.kill(Victim.DAEMON);
                scene.startDaemon();
                for (int i = 10; i < 20; i++) {
                    scene.traffic.stream("meanwhile-" + i, 1);
                    scene.traffic.assertAnswered("meanwhile-" + i, true);
                }
                scene.awaitReady();
                assertEquals("", Files.readString(heard));
                assertTrue(stranger.alive(), "nobody kills it");
            }
            scene.assertEndsWell();
        }
    }

    /** A daemon that cannot have its port says so in one line, and leaves whoever holds it alone (report B42). */
    @ParameterizedTest
    @EnumSource
    void aDaemonThatComesSecondSaysSoAndEnds(Maker maker) throws Exception {
        User user = User.self(folder.resolve("home"));
        int port = Relay.freePort();
        try (Proc stranger = stranger(port, folder.resolve("heard"))) {
            Proc.Result second = user.spec(maker.executable().toString(), "daemon", "--port", Integer.toString(port))
                    .run(Duration.ofSeconds(90));
            assertEquals(1, second.exit());
            String says = switch (maker) {
                case OURS -> "cannot listen on 127.0.0.1:" + port;
                case STOCK -> "failed to bind daemon listener 127.0.0.1:" + port + ": Address already in use";
            };
            assertTrue(second.stderr().contains(says), second.stderr());
            assertTrue(stranger.alive(), "nobody kills it");
        }
    }

    private Proc stranger(int port, Path heard) {
        Proc stranger = Proc.spec()
                .command("python3", Resource.file(folder, "stranger.py"), "" + port, heard.toString())
                .start();
        stranger.stdoutLine(0, Duration.ofSeconds(20));
        return stranger;
    }
}
