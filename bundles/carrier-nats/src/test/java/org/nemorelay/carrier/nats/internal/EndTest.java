package org.nemorelay.carrier.nats.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoCarrierException;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.NatsServer;
import org.nemorelay.testkit.Recorder;

class EndTest {
    private static boolean anyThread() {
        return Thread.getAllStackTraces().keySet().stream()
                .anyMatch(thread -> thread.getName().startsWith("nats"));
    }

    @Test
    void whatHasArrivedIsHandedOverAndThenNothingIsTakenAndNoThreadIsLeft() {
        NatsRig rig = new NatsRig();
        AtomicInteger seen = new AtomicInteger();
        rig.here().broadcaster().subscribe("jobs.new", message -> seen.incrementAndGet());
        for (int i = 0; i < 1000; i++) {
            rig.here().broadcaster().publish("jobs.new", new byte[0]);
        }
        rig.close();
        assertEquals(1000, seen.get());
        assertFalse(rig.here().connected());
        assertThrows(NoCarrierException.class, () -> rig.here().broadcaster().publish("jobs.new", new byte[0]));
        assertThrows(NoCarrierException.class, () -> rig.here().broadcaster().subscribe("jobs.new", message -> {}));
        assertFalse(anyThread());
    }

    @Test
    void closingWhileThereIsNoServerLeavesNothingEither() {
        NatsServer server = NatsServer.start();
        server.close();
        NatsCarrier carrier = Links.open(Map.of("servers", Links.at(server)), new Recorder());
        carrier.broadcaster().subscribe("jobs.new", message -> {});
        carrier.close();
        assertFalse(anyThread());
    }

    @Test
    void aDrainUnderTrafficHandsOverEverythingThatWasTaken() {
        try (NatsRig rig = new NatsRig()) {
            AtomicInteger runs = new AtomicInteger();
            int sent = 0;
            for (int round = 0; round < 50; round++) {
                Subscription consumer = rig.peer()
                        .workConsumer()
                        .consume(
                                Context.background(),
                                WorkKind.TASK,
                                1,
                                (context, payload, events) -> runs.incrementAndGet());
                for (int i = 0; i < 20; i++) {
                    rig.here().workQueue().enqueue(Context.background(), WorkKind.TASK, new byte[0]);
                    sent++;
                }
                rig.here().workQueue().flush(java.time.Duration.ofSeconds(5));
                consumer.drain();
                int expected = sent;
                Await.until("all of round " + round, () -> runs.get() == expected);
            }
        }
    }
}
