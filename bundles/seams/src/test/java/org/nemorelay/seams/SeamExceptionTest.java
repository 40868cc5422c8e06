package org.nemorelay.seams;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

/** The four conditions are four types: none can be caught, or passed on, as another. */
class SeamExceptionTest {
    private static final List<Class<? extends SeamException>> CONDITIONS =
            List.of(NoRouteException.class, AbsentException.class, UnreachableException.class, RefusedException.class);

    @Test
    void noConditionIsAnother() {
        for (Class<?> one : CONDITIONS) {
            for (Class<?> other : CONDITIONS) {
                assertTrue(one == other || !one.isAssignableFrom(other), one + " covers " + other);
            }
        }
    }

    @Test
    void noConditionCanCarryAnotherAsItsCause() {
        for (Class<?> condition : CONDITIONS) {
            for (var constructor : condition.getConstructors()) {
                for (Class<?> parameter : constructor.getParameterTypes()) {
                    assertFalse(Throwable.class.isAssignableFrom(parameter), constructor.toString());
                }
            }
        }
    }

    @Test
    void aTimeoutIsUnreachableAndNeverNoRoute() {
        SeamException timeout = new StillInstallingException("x");
        assertTrue(timeout instanceof TimedOutException && timeout instanceof UnreachableException);
    }
}
