package org.nemorelay.it.faults;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Maker;

/**
 * SIGSTOP for longer than each timer of relay-daemon 5.4, of the process whose silence the timer is about. Timers longer
 * than a minute are cut short by {@code NEMO_RELAY_TEST_TIME_SCALE}, and have their time in {@code ./test --all}.
 */
@Timeout(700)
class SuspendTest {
    private static final int SCALE = 10;

    @TempDir
    Path folder;

    /** Who is silent for how long, and what comes of it by itself. */
    enum Silence {
        /** 5 s; tried again for 30 s. */
        ATTEMPT(State.EMPTY, Victim.DAEMON, 8, Fault.Ending.ANOTHER_WORKER),
        /** 5 s: a client is connected, and does not say who it is. */
        AUTHENTICATION(State.EMPTY, Victim.MCP, 8, Fault.Ending.ANOTHER_WORKER, "reason=authentication_timeout") {
            @Override
            void begin(Scene scene) {
                scene.suspend(Victim.DAEMON, true);
                scene.letGo();
                scene.awaitConnectedClient();
                super.begin(scene);
                scene.suspend(Victim.DAEMON, false);
            }
        },
        /** 15 s, and every attempt in them has ended before the daemon comes to it. */
        CHALLENGE(State.EMPTY, Victim.DAEMON, 20, Fault.Ending.ANOTHER_WORKER) {
            @Override
            void meanwhile(Scene scene) {
                scene.letGo();
            }
        },
        /** 5 s: the worker is told to drain. */
        ACKNOWLEDGEMENT_OF_WORKER(
                State.READY, Victim.WORKER, 8, Fault.Ending.ANOTHER_WORKER, "reason=acknowledgement_timeout") {
            @Override
            void meanwhile(Scene scene) {
                scene.endHarnesses();
            }

            @Override
            void end(Scene scene) {
                super.end(scene);
                scene.startHarness();
            }

            @Override
            List<String> answered() {
                // What comes to the worker beside its drain may be refused.
                return List.of("slow", "after");
            }
        },
        /** 5 s: the client is told that its worker serves. */
        ACKNOWLEDGEMENT_OF_CLIENT(
                State.ACTIVATING, Victim.MCP, 8, Fault.Ending.SAME_WORKER, "reason=acknowledgement_timeout") {
            @Override
            void meanwhile(Scene scene) {
                scene.letGo();
            }
        },
        REQUEST(State.READY, Victim.DAEMON, 8, Fault.Ending.SAME_WORKER),
        /** A second and more: the next launch is due, and nobody acknowledges it. */
        BACK_OFF(State.PASS_THROUGH, Victim.MCP, 8, Fault.Ending.ONE_WORKER, "reason=acknowledgement_timeout") {
            @Override
            void meanwhile(Scene scene) {
                scene.letGo();
            }
        },
        BACK_OFF_OF_DAEMON(State.PASS_THROUGH, Victim.DAEMON, 8, Fault.Ending.ONE_WORKER),
        /** 30 s, which begin with the loss of a connection: a process that only sleeps keeps its own on loopback. */
        GRACE_OF_DAEMON(State.READY, Victim.DAEMON, 40, Fault.Ending.SAME_WORKER),
        GRACE_OF_CLIENT(State.READY, Victim.MCP, 40, Fault.Ending.SAME_WORKER),
        GRACE_OF_WORKER(State.READY, Victim.WORKER, 40, Fault.Ending.SAME_WORKER),
        GRACE_OF_HARNESS(State.READY, Victim.HARNESS, 40, Fault.Ending.SAME_WORKER),
        GRACE_OF_PROVIDER(State.READY, Victim.PROVIDER, 40, Fault.Ending.SAME_WORKER),
        /** A client that has lost its own because it acknowledges nothing: its worker goes, and the next one comes with it. */
        GRACE_OF_DISCONNECTED_CLIENT(
                State.ACTIVATING, Victim.MCP, 40, Fault.Ending.ANOTHER_WORKER, "reason=control_disconnect_timeout") {
            @Override
            void meanwhile(Scene scene) {
                scene.letGo();
            }
        },
        /** 30 s after the start of a daemon; a worker that comes later finds that it was replaced, and ends. */
        RESTART(State.RECOVERING, Victim.WORKER, 45, Fault.Ending.ANOTHER_WORKER),
        /** Two minutes; a worker that goes on after them finds nobody, and ends. */
        DRAIN(State.DRAINING, Victim.WORKER, 130, Fault.Ending.ANOTHER_WORKER),
        /** The provider pauses in a stream for whose end the next worker waits. */
        STREAM(State.DRAINING, Victim.PROVIDER, 30, Fault.Ending.ANOTHER_WORKER),
        /** A start has no deadline: neither its reports, each minute, nor the 150 s of a client's patience are one. */
        START(State.ACTIVATING, Victim.WORKER, 160, Fault.Ending.SAME_WORKER),
        /** Five minutes after its launch was published, which is what the daemon remembers, the client asks for it. */
        MEMORY(State.ACTIVATING, Victim.MCP, 310, Fault.Ending.SAME_WORKER, "reason=control_disconnect_timeout") {
            @Override
            void meanwhile(Scene scene) {
                scene.letGo();
                scene.startHarness();
            }
        };

        private final State state;
        private final Victim victim;
        private final int seconds;
        private final Fault.Ending ending;
        private final String proof;

        Silence(State state, Victim victim, int seconds, Fault.Ending ending) {
            this(state, victim, seconds, ending, "");
        }

        /** @param proof what our daemon says when the timer ends */
        Silence(State state, Victim victim, int seconds, Fault.Ending ending, String proof) {
            this.state = state;
            this.victim = victim;
            this.seconds = seconds;
            this.ending = ending;
            this.proof = proof;
        }

        void begin(Scene scene) {
            scene.suspend(victim, true);
        }

        /** What happens while it is silent. */
        void meanwhile(Scene scene) {}

        void end(Scene scene) {
            scene.suspend(victim, false);
        }

        /** Which of the requests get their answer. */
        List<String> answered() {
            return List.of("slow", "meanwhile", "after");
        }
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "ATTEMPT",
                "AUTHENTICATION",
                "ACKNOWLEDGEMENT_OF_WORKER",
                "ACKNOWLEDGEMENT_OF_CLIENT",
                "BACK_OFF",
                "REQUEST",
                "DRAIN",
                "START",
                "MEMORY"
            })
    void representative(Silence silence) throws Exception {
        run(Maker.OURS, silence, silence.seconds > 60 ? SCALE : 1);
    }

    @ParameterizedTest
    @EnumSource
    @Tag("long")
    void longerThanEachTimer(Silence silence) throws Exception {
        run(Maker.OURS, silence, 1);
    }

    @ParameterizedTest
    @MethodSource
    @Tag("long")
    void theStockProgram(Silence silence) throws Exception {
        run(Maker.STOCK, silence, 1);
    }

    /** Without those whose state it cannot be brought into. */
    static List<Silence> theStockProgram() {
        return Stream.of(Silence.values())
                .filter(silence -> silence.state.present(Maker.STOCK).contains(silence.victim))
                .toList();
    }

    private void run(Maker maker, Silence silence, int scale) throws Exception {
        Map<String, String> scaled =
                scale == 1 ? Map.of() : Map.of("NEMO_RELAY_TEST_TIME_SCALE", Integer.toString(scale));
        try (Scene scene = new Scene(folder, maker, scaled, scaled)) {
            silence.state.enter(scene);
            scene.traffic.stream("slow", 30);
            scene.traffic.awaitSubmitted("slow");
            scene.remember();
            silence.begin(scene);
            scene.traffic.stream("meanwhile", 1);
            silence.meanwhile(scene);
            // The time itself is what is tested; scaled timers end after 12 and 15 s, reached or not while the state
            // was made.
            Thread.sleep(Duration.ofSeconds(scale == 1 ? silence.seconds : silence.seconds / SCALE + 5));
            if (maker == Maker.OURS) {
                Await.until(
                        scene::transcript, Scene.LIMIT, () -> scene.daemonLog().contains(silence.proof));
            }
            silence.end(scene);
            scene.traffic.stream("after", 1);
            scene.letGo();
            if (maker == Maker.STOCK && silence == Silence.GRACE_OF_WORKER) {
                // It asks over HTTP/2 whether its worker is there, and breaks off what a silent one has after 20 s.
                scene.await(Fault.Ending.ONE_WORKER);
            } else {
                scene.await(silence.ending);
                for (String id : silence.answered()) {
                    scene.traffic.assertAnswered(id, true);
                }
                if (silence.state == State.DRAINING && maker == Maker.OURS) {
                    // Cut with the drain of the worker that it stands still in.
                    scene.traffic.assertAnswered("draining", silence.victim != Victim.WORKER);
                }
            }
            scene.assertEndsWell();
        }
    }
}
