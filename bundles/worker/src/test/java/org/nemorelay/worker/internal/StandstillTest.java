package org.nemorelay.worker.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class StandstillTest {
    private static final long SECOND = 1_000_000_000L;

    private long now = Long.MAX_VALUE - 10 * SECOND; // it may wrap
    private final Standstill standstill = new Standstill(() -> now);
    private final List<String> acts = new ArrayList<>();

    @BeforeEach
    void start() {
        standstill.ask(() -> acts.add("asks"));
        standstill.heard();
    }

    private void after(long seconds) {
        now += seconds * SECOND;
    }

    @Test
    void whileTheThreadComesByNothingIsDoubted() {
        for (int i = 0; i < 60; i++) {
            after(1);
            assertFalse(standstill.doubted());
            standstill.tick();
        }
        assertEquals(List.of(), acts);
    }

    @Test
    void afterAPauseARequestWaitsUntilTheDaemonHasBeenHeard() {
        after(4);
        assertTrue(standstill.doubted());
        standstill.await(() -> acts.add("one"));
        standstill.await(() -> acts.add("two"));
        standstill.tick();
        assertEquals(List.of("asks"), acts);
        assertTrue(standstill.doubted(), "the thread that comes by proves nothing");
        standstill.heard();
        assertEquals(List.of("asks", "one", "two"), acts);
        assertFalse(standstill.doubted());
    }

    @Test
    void theThreadThatComesByFirstAsksToo() {
        after(4);
        standstill.tick();
        assertEquals(List.of("asks"), acts);
        assertTrue(standstill.doubted());
        standstill.heard();
        after(4);
        standstill.tick();
        assertEquals(List.of("asks", "asks"), acts);
    }

    @Test
    void whereNobodyCanBeHeardNothingWaits() {
        after(4);
        standstill.await(() -> acts.add("one"));
        standstill.rest();
        assertEquals(List.of("asks", "one"), acts);
        after(3_600);
        standstill.tick();
        assertFalse(standstill.doubted());
        standstill.await(() -> acts.add("late"));
        assertEquals(List.of("asks", "one", "late"), acts);
        standstill.heard();
        after(4);
        assertTrue(standstill.doubted());
    }

    /** It found the doubt, and the daemon was heard before it came to wait. */
    @Test
    void oneThatComesLateIsNotForgotten() {
        standstill.await(() -> acts.add("late"));
        assertEquals(List.of("asks"), acts);
        standstill.heard();
        assertEquals(List.of("asks", "late"), acts);
    }
}
