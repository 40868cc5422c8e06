package org.nemorelay.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;

class TargetsTest {
    @Test
    void aRunThatMissesOneTargetEndsWithOne() {
        Targets targets = new Targets();
        assertEquals("≤ 24 met", targets.atMost("heap", 24, 24));
        assertEquals("≥ 0.95 met", targets.atLeast("ratio", 0.95, 0.95));
        assertEquals(0, targets.exitStatus());
        assertEquals("≤ 5 **MISSED**", targets.atMost("restart", 5.01, 5));
        assertEquals(1, targets.exitStatus());
    }

    @Test
    void whatIsTooLittleOrNoNumberIsMissed() {
        Targets targets = new Targets();
        assertEquals("≥ 500 **MISSED**", targets.atLeast("registrations/s", 499, 500));
        assertEquals("≤ 1 **MISSED**", targets.atMost("ratio", Double.NaN, 1));
        assertEquals(1, targets.exitStatus());
    }
}
