package org.nemorelay.it.faults;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;
import org.nemorelay.it.Await;
import org.nemorelay.it.Maker;

/** The six states of a route (relay-daemon 5.1): how a scene comes into each, and what holds it there. */
enum State {
    /** A harness has started its client, which has not come to the daemon yet. */
    EMPTY(EnumSet.complementOf(EnumSet.of(Victim.WORKER))) {
        @Override
        void enter(Scene scene) {
            scene.holdClients();
            scene.launchHarness();
            Await.until("a client is starting", LIMIT, () -> !scene.mcps().isEmpty());
        }
    },
    /** The worker has been started and does not come to its registration. */
    ACTIVATING(EnumSet.allOf(Victim.class)) {
        @Override
        void enter(Scene scene) {
            scene.holdWorkers();
            scene.startHarness();
            Await.until("a worker is starting", LIMIT, () -> !scene.workers().isEmpty());
        }
    },
    READY(EnumSet.allOf(Victim.class)) {
        @Override
        void enter(Scene scene) {
            scene.startHarness();
            scene.awaitReady();
        }
    },
    /** The last session has left while a stream runs, and the next one waits for the end of its worker. */
    DRAINING(EnumSet.allOf(Victim.class)) {
        @Override
        void enter(Scene scene) {
            READY.enter(scene);
            scene.traffic.stream("draining", 200);
            Await.until(
                    "the stream runs through the worker",
                    LIMIT,
                    () -> scene.traffic.notes().contains("draining /worker"));
            scene.endHarnesses();
            Await.until("the worker drains", LIMIT, () -> scene.states().contains("draining"));
            scene.startHarness();
        }
    },
    /** The worker does not start, so the route waits for the next try. */
    PASS_THROUGH(EnumSet.complementOf(EnumSet.of(Victim.WORKER))) {
        @Override
        void enter(Scene scene) {
            scene.breakWorkers();
            scene.startHarness();
            Await.until(
                    "a worker has failed", LIMIT, () -> scene.daemonLog().contains("event=worker_activation_failed"));
        }
    },
    /** The daemon is another one, and the worker of the one before, suspended, cannot come back for now. */
    RECOVERING(EnumSet.allOf(Victim.class)) {
        @Override
        void enter(Scene scene) {
            for (int attempt = 1; !restarted(scene) && attempt < ATTEMPTS; attempt++) {
                // A machine so busy that the client has given up, or is about to.
                scene.letGo();
                scene.endHarnesses();
                scene.await(Fault.Ending.NOBODY);
            }
            Await.until(
                    () -> "the session is back\n" + scene.transcript(),
                    LIMIT,
                    () -> scene.daemonLog().contains("event=mcp_control_connected"));
        }

        private boolean restarted(Scene scene) {
            READY.enter(scene);
            scene.suspend(Victim.WORKER, true);
            scene.kill(Victim.DAEMON);
            scene.startDaemon();
            return !scene.daemonWasAwayForTheGrace();
        }
    };

    private static final int ATTEMPTS = 3;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Set<Victim> present;

    State(Set<Victim> present) {
        this.present = present;
    }

    /** Whom there is to kill. */
    Set<Victim> present(Maker maker) {
        return reachable(maker) ? present : EnumSet.noneOf(Victim.class);
    }

    /** The stock program finds its worker by itself, so nobody can hold it in its start. */
    private boolean reachable(Maker maker) {
        return switch (maker) {
            case OURS -> true;
            case STOCK -> this != ACTIVATING;
        };
    }

    abstract void enter(Scene scene);
}
