package org.nemorelay.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;

/** When a client tries again (relay-daemon 3.10). */
@Timeout(120)
class RetryPolicyTest {
    private static final long MS = 1_000_000;

    /** 100 values are equally likely: that 5,000 draws miss one end is one chance in 10^21. */
    @ParameterizedTest
    @CsvSource({"1, 250", "2, 500", "3, 1000", "4, 2000", "5, 2000", "6, 2000", "1000, 2000"})
    void aPauseIsTheFullOneLessUpTo99Ms(int number, long full) {
        var drawn = LongStream.generate(() -> RetryPolicy.delay(number))
                .limit(5_000)
                .summaryStatistics();
        assertEquals(full, drawn.getMax());
        assertEquals(full - 99, drawn.getMin());
        assertTrue(Math.abs(drawn.getAverage() - (full - 49.5)) < 5, drawn::toString);
    }

    /** The pauses between the attempts that a budget has room for; it ends with the failure of the last. */
    private static List<Long> pauses(boolean worker, long budgetMs) {
        List<Long> begun = new ArrayList<>();
        long deadline = System.nanoTime() + budgetMs * MS;
        RetryPolicy.Attempt<Void> attempt = _ -> {
            begun.add(System.nanoTime());
            throw new RelayException(FailureKind.UNAVAILABLE, "attempt " + begun.size());
        };
        RelayException last = assertThrows(RelayException.class, () -> {
            if (worker) {
                RetryPolicy.worker(deadline, attempt);
            } else {
                RetryPolicy.mcp(deadline, attempt);
            }
        });
        assertEquals("attempt " + begun.size(), last.getMessage());
        assertTrue(System.nanoTime() < deadline + 60_000 * MS);
        List<Long> pauses = new ArrayList<>();
        for (int i = 1; i < begun.size(); i++) {
            pauses.add((begun.get(i) - begun.get(i - 1)) / MS);
        }
        return pauses;
    }

    @Test
    void aSessionsClientsDoNotComeBackTogether() {
        List<Long> first = new ArrayList<>();
        // A busy machine makes pauses longer; one that is shorter than the full one is enough.
        while (first.stream().noneMatch(pause -> pause < 250)) {
            List<Long> pauses = pauses(false, 300);
            first.addAll(pauses);
            pauses.forEach(pause -> assertTrue(pause >= 151, pauses::toString));
        }
    }

    @Test
    void aWorkersFirstRegistrationHasFullPauses() {
        List<Long> pauses = pauses(true, 900);
        List<Long> full = List.of(250L, 500L);
        assertTrue(pauses.size() <= full.size(), pauses::toString);
        for (int i = 0; i < pauses.size(); i++) {
            assertTrue(pauses.get(i) >= full.get(i), pauses::toString);
        }
    }

    @Test
    void noAttemptIsGivenMoreThanFiveSecondsNorMoreThanIsLeft() {
        long deadline = System.nanoTime() + 30_000 * MS;
        RetryPolicy.mcp(deadline, limit -> {
            long given = limit - System.nanoTime();
            assertTrue(given <= 5_000 * MS, given + " ns");
            return true;
        });
        long soon = System.nanoTime() + 400 * MS;
        RetryPolicy.worker(soon, limit -> {
            assertEquals(soon, limit);
            return true;
        });
    }

    @Test
    void whatIsToldIsNotThatTheLastAttemptHadNoTimeLeft() {
        long deadline = System.nanoTime() + 600 * MS;
        List<String> reasons = new ArrayList<>(List.of("refused"));
        RelayException told = assertThrows(
                RelayException.class,
                () -> RetryPolicy.worker(deadline, limit -> {
                    if (!reasons.isEmpty()) {
                        throw new RelayException(FailureKind.UNAVAILABLE, reasons.removeFirst());
                    }
                    while (System.nanoTime() - limit < 0) {
                        LockSupport.parkNanos(limit - System.nanoTime());
                    }
                    throw new RelayException(FailureKind.UNAVAILABLE, "timed out");
                }));
        assertEquals("refused", told.getMessage());
    }
}
