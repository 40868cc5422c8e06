package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ThrottleTest {
    @Test
    void oneEventPerKeyInTenSecondsWithTheCountOfTheRest() {
        Throttle throttle = new Throttle();
        assertEquals(OptionalLong.of(0), throttle.pass("a", 0));
        assertEquals(OptionalLong.empty(), throttle.pass("a", 1));
        assertEquals(OptionalLong.empty(), throttle.pass("a", 9_999));
        assertEquals(OptionalLong.of(0), throttle.pass("b", 9_999));
        assertEquals(OptionalLong.of(2), throttle.pass("a", 10_000));
    }
}
