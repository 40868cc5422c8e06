package org.nemorelay.seams;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CancelRegistryTest {
    private final CancelRegistry registry = new CancelRegistry();
    private final AtomicInteger first = new AtomicInteger();
    private final AtomicInteger second = new AtomicInteger();

    @Test
    void cancelRunsTheLatestActionOnce() {
        registry.register("k", first::incrementAndGet);
        registry.register("k", second::incrementAndGet);
        assertTrue(registry.cancel("k"));
        assertFalse(registry.cancel("k"));
        assertEquals(0, first.get());
        assertEquals(1, second.get());
    }

    @Test
    void deregisterRunsNothing() {
        registry.register("k", first::incrementAndGet);
        registry.deregister("k");
        assertFalse(registry.cancel("k"));
        assertEquals(0, first.get());
    }
}
