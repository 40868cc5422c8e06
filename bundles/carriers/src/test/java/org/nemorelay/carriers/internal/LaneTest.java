package org.nemorelay.carriers.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.carrier.local.internal.LocalCarrier;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.testkit.Recorder;

@Timeout(60)
class LaneTest {
    private static final int CHANGES = 200_000;

    /** Whoever has waited for the calls of a carrier that was left may close it. */
    @Test
    void noCallRunsOnACarrierThatWasLeftAndWaitedFor() throws Exception {
        Lane lane = new Lane("calls");
        LocalCarrier one = local("one");
        LocalCarrier two = local("two");
        Map<Carrier, Boolean> gone = new ConcurrentHashMap<>();
        AtomicBoolean over = new AtomicBoolean();
        AtomicInteger late = new AtomicInteger();
        lane.set(Optional.of(one));
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            callers.add(Thread.ofPlatform().start(() -> {
                while (!over.get()) {
                    lane.run(carrier -> {
                        for (int look = 0; look < 100; look++) {
                            if (gone.containsKey(carrier)) {
                                late.incrementAndGet();
                            }
                        }
                    });
                }
            }));
        }
        for (int i = 0; i < CHANGES; i++) {
            Carrier left = i % 2 == 0 ? one : two;
            lane.set(Optional.of(i % 2 == 0 ? two : one));
            assertTrue(lane.awaitLeases(left, Duration.ofSeconds(10)));
            gone.put(left, true);
            Thread.onSpinWait();
            gone.remove(left);
        }
        over.set(true);
        for (Thread caller : callers) {
            caller.join();
        }
        one.close();
        two.close();
        assertEquals(0, late.get());
    }

    private static LocalCarrier local(String name) {
        Recorder recorder = new Recorder();
        return new LocalCarrier(
                name,
                1024,
                WorkRoutes.standard(),
                ControlTimeouts.atMost(Duration.ofSeconds(1)),
                new Faults(recorder, recorder));
    }
}
