package org.nemorelay.seams.carrier;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class ControlTimeoutsTest {
    @Test
    void aBoundOfZeroIsAFault() {
        assertThrows(IllegalArgumentException.class, () -> ControlTimeouts.atMost(Duration.ZERO));
    }

    @Test
    void theStandardBoundsAreThoseOfTheSheet() {
        ControlTimeouts standard = ControlTimeouts.standard();
        assertEquals(Duration.ofMinutes(15), standard.install());
        assertEquals(Duration.ofSeconds(15), standard.stop());
        assertTrue(standard.operation().compareTo(ControlTimeouts.RENEWAL_CADENCE) <= 0);
    }
}
