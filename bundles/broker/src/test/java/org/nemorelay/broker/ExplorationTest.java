package org.nemorelay.broker;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.broker.Mutant.Fault;

/** Every order of events around the broker, to a depth, and faults of the broker that this must find. */
class ExplorationTest {
    private static final int DEPTH = 12;
    private static final int LONG_DEPTH = 14;
    private static final int FAULT_DEPTH = 9;

    /** What could be wrong with a broker. */
    enum Mutation {
        CUT_LINK_IS_AN_EXIT(new Fault.Read("Worker", "exited", "drainKnown", 1)),
        A_CUT_TELLS_OF_AN_EXIT(new Fault.Set("WorkerEvents", "disconnected", "drainKnown")),
        END_WITHOUT_EVIDENCE(new Fault.Read("Worker", "exited", "ended", 1)),
        A_RESTARTED_DAEMON_FORGETS_THE_DRAIN(new Fault.Call("Lifecycle", "restoreDraining", "become", 0)),
        EXIT_WITH_OPEN_CONTROL(new Fault.Read("Worker", "exited", "connected", 0)),
        EXIT_WITH_REQUESTS_UNDER_WAY(new Fault.Call("Worker", "exited", "get", 0)),
        DRAINING_WORKER_STAYS_READY(new Fault.Call("Lifecycle", "drain", "become", 0)),
        A_WORKER_THAT_LEAVES_STAYS_READY(new Fault.Call("WorkerEvents", "leaves", "drain", 0)),
        LET_GO_WITH_REQUESTS_UNDER_WAY(new Fault.Call("Lifecycle", "finishDrainIfDue", "get", 0)),
        NEVER_LET_GO(new Fault.Read("Lifecycle", "finishDrainIfDue", "leaving", 0)),
        CANCELLED_GRANT_STAYS_VALID(new Fault.Call("Lifecycle", "cancel", "become", 0)),
        PUBLISHED_THOUGH_ITS_CONTROL_WAS_LOST(new Fault.Read("WorkerEvents", "refusal", "connected", 1)),
        ANY_GRANT_REGISTERS(new Fault.Call("WorkerEvents", "stage", "equals", 1)),
        LAUNCH_BY_A_DISCONNECTED_SESSION(new Fault.Read("Route", "candidate", "connected", 1)),
        REVOKED_GENERATION_RECOVERS(new Fault.Call("WorkerEvents", "recover", "isEmpty", 0)),
        SESSIONS_ARE_NOT_TOLD(new Fault.Call("Lifecycle", "settle", "equals", 1)),
        TIMERS_ARE_NOT_SET(new Fault.Call("Lifecycle", "settle", "wakeAt", Route.NEVER)),
        REQUEST_ENDS_TWICE(new Fault.Call("WorkerLease", "release", "compareAndSet", 1)),
        LOST_CONTROL_LEAVES_THE_GATE_OPEN(new Fault.Call("Lifecycle", "unpublish", "refreshGate", 0));

        private final Fault fault;

        Mutation(Fault fault) {
            this.fault = fault;
        }
    }

    @Test
    void invariantsHoldInEveryOrderOfEvents() {
        explore(DEPTH);
    }

    @Test
    @Tag("long")
    void invariantsHoldInEveryLongerOrderOfEvents() {
        explore(LONG_DEPTH);
    }

    @ParameterizedTest
    @EnumSource
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void theExplorationFinds(Mutation mutation) throws ReflectiveOperationException {
        Mutant mutant = new Mutant(mutation.fault);
        Map<String, Object> found = mutant.explore(FAULT_DEPTH);
        assertTrue(mutant.changed() > 0, () -> "the broker has no more what the mutation changes: " + mutation.fault);
        assertTrue(found.containsKey("violation"), () -> mutation + " was not found: " + found);
        System.out.println("broker mutation " + mutation + ": " + found);
    }

    private static void explore(int depth) {
        Map<String, Object> found = new Exploration().apply(depth);
        System.out.println("broker exploration: " + found);
        assertNull(found.get("violation"), found::toString);
        assertTrue((int) found.get("states") > 100_000, found::toString);
    }
}
