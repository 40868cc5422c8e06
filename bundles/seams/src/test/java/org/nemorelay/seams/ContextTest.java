package org.nemorelay.seams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class ContextTest {
    @Test
    void cancellationReachesEverythingDerivedAndNothingDetached() {
        Context.Cancellable parent = Context.background().cancellable();
        Context child = parent.withTimeout(Duration.ofHours(1)).cancellable();
        Context detached = child.detached();
        AtomicInteger ran = new AtomicInteger();
        child.onCancel(ran::incrementAndGet);
        detached.onCancel(ran::incrementAndGet);
        parent.cancel();
        parent.cancel();
        assertTrue(child.cancelled());
        assertFalse(detached.cancelled());
        assertEquals(1, ran.get());
        child.onCancel(ran::incrementAndGet);
        assertEquals(2, ran.get(), "a late action runs at once");
        assertThrows(CancelledException.class, () -> child.check("x"));
    }

    @Test
    void aClosedRegistrationIsForgotten() {
        Context.Cancellable context = Context.background().cancellable();
        AtomicInteger ran = new AtomicInteger();
        context.onCancel(ran::incrementAndGet).close();
        context.cancel();
        assertEquals(0, ran.get());
    }

    @Test
    void closingAChildLeavesTheParent() {
        Context.Cancellable parent = Context.background().cancellable();
        Context.Cancellable child = parent.cancellable();
        child.close();
        assertTrue(child.cancelled());
        assertFalse(parent.cancelled());
    }

    @Test
    void theEarlierDeadlineWins() {
        Context hour = Context.background().withTimeout(Duration.ofHours(1));
        assertTrue(hour.withTimeout(Duration.ofHours(2)).remaining().get().compareTo(Duration.ofHours(1)) <= 0);
        assertTrue(hour.withTimeout(Duration.ofMinutes(1)).remaining().get().compareTo(Duration.ofMinutes(1)) <= 0);
        assertEquals(Duration.ofSeconds(3), hour.remainingWithin(Duration.ofSeconds(3)));
        assertEquals(Duration.ofSeconds(3), Context.background().remainingWithin(Duration.ofSeconds(3)));
    }

    @Test
    void aSpentDeadlineIsATimeout() {
        Context spent = Context.background().withTimeout(Duration.ZERO);
        assertTrue(spent.expired());
        assertEquals(Duration.ZERO, spent.remainingWithin(Duration.ofSeconds(1)));
        assertThrows(TimedOutException.class, () -> spent.check("x"));
    }
}
