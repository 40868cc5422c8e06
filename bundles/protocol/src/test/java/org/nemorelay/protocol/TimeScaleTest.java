package org.nemorelay.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TimeScaleTest {
    @Test
    void timesAreTheDocumentedOnesWithoutIt() {
        assertTrue(TimeScale.of(Map.of()).documented());
        assertEquals(120_000, TimeScale.of(Map.of()).ms(120_000));
    }

    @Test
    void onlyTimersLongerThanAMinuteAreCutShort() {
        TimeScale scale = TimeScale.of(Map.of(TimeScale.VARIABLE, "30"));
        assertEquals(4_000, scale.ms(120_000));
        assertEquals(60_000, scale.ms(60_000));
        assertEquals(30_000, scale.ms(30_000));
    }

    @Test
    void itIsRefusedWhereOthersThanTestsRelyOnTheTimes() {
        TimeScale scale = TimeScale.of(Map.of(TimeScale.VARIABLE, "30"));
        assertEquals(scale, scale.within(true));
        assertTrue(TimeScale.of(Map.of()).within(false).documented());
        assertEquals(
                FailureKind.CONFIGURATION,
                assertThrows(RelayException.class, () -> scale.within(false)).kind());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "0", "-1", "1001", "x"})
    void anythingElseIsRefused(String value) {
        Map<String, String> environment = Map.of(TimeScale.VARIABLE, value);
        assertEquals(
                FailureKind.CONFIGURATION,
                assertThrows(RelayException.class, () -> TimeScale.of(environment))
                        .kind());
    }
}
