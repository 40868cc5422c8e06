package org.nemorelay.carrier.nats.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.seams.AbsentException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.testkit.Await;
import org.nemorelay.testkit.NatsServer;
import org.nemorelay.testkit.Recorder;

/** B36: the link comes back with the same credentials, buffers are bounded, and calls on it end at once. */
class ReconnectTest {
    @TempDir
    Path folder;

    private final Recorder recorder = new Recorder();

    @Test
    void aServerThatIsDownAtTheStartIsWaitedFor() {
        NatsServer server = NatsServer.start();
        server.kill();
        NatsCarrier carrier = Links.open(Map.of("servers", Links.at(server)), recorder);
        AtomicInteger seen = new AtomicInteger();
        carrier.broadcaster().subscribe("jobs.new", message -> seen.incrementAndGet());
        assertThrows(AbsentException.class, () -> carrier.broadcaster().publish("jobs.new", new byte[0]));
        server.restart();
        Await.until("connected", carrier::connected);
        Await.until("what stood before is there", () -> {
            carrier.broadcaster().publish("jobs.new", new byte[0]);
            return seen.get() > 0;
        });
        carrier.close();
        server.close();
    }

    @Test
    void b36AnAuthenticatingServerRestartedFiveTimes() throws Exception {
        String settings = "authorization { user: ann, password: geheim }";
        String password = Files.writeString(folder.resolve("p"), "geheim").toString();
        try (NatsServer server = NatsServer.start(settings)) {
            NatsCarrier carrier = Links.connected(
                    Map.of("servers", Links.at(server), "user", "ann", "password_file", password), recorder);
            AtomicInteger returns = new AtomicInteger();
            carrier.broadcaster().onReconnect(returns::incrementAndGet);
            AtomicInteger seen = new AtomicInteger();
            carrier.broadcaster().subscribe("jobs.new", message -> seen.incrementAndGet());
            for (int round = 1; round <= 5; round++) {
                int expected = round;
                server.kill();
                server.restart();
                Await.until("its return is told", () -> returns.get() == expected);
                int before = seen.get();
                carrier.broadcaster().publish("jobs.new", new byte[0]);
                Await.until("delivered", () -> seen.get() > before);
            }
            assertTrue(recorder.lines().stream().noneMatch(line -> line.contains("geheim")));
            carrier.close();
        }
    }

    @Test
    void b36ACallOnItsWayFailsAtOnceWhenTheLinkBreaksAndIsNotDoneTwice() {
        try (NatsRig rig = new NatsRig()) {
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            AtomicInteger runs = new AtomicInteger();
            rig.peer()
                    .controlServer("n")
                    .handleWithProgress(ControlVerb.MODEL_DELETE, Need.MANDATORY, (context, body, progress) -> {
                        runs.incrementAndGet();
                        started.countDown();
                        Await.latch(release);
                        return new Outcome.Silent();
                    });
            AtomicReference<RuntimeException> outcome = new AtomicReference<>();
            Thread.ofVirtual().start(() -> {
                try {
                    rig.here().commands().deleteModel("n", "m");
                } catch (RuntimeException e) {
                    outcome.set(e);
                }
            });
            Await.latch(started);
            long start = System.nanoTime();
            rig.breakLink();
            Await.until("the call ends", () -> outcome.get() != null);
            assertEquals(
                    AbsentException.class,
                    outcome.get().getClass(),
                    outcome.get().toString());
            assertTrue(System.nanoTime() - start < 900_000_000L, "before its own time is up");
            rig.restoreLink();
            release.countDown();
            assertEquals(1, runs.get());
        }
    }

    @Test
    void aHandlerGoesOnAndWhatItHoldsIsKeptWhenTheLinkBreaks() {
        try (NatsRig rig = new NatsRig()) {
            CountDownLatch started = new CountDownLatch(1);
            CountDownLatch release = new CountDownLatch(1);
            AtomicInteger done = new AtomicInteger();
            AtomicInteger interrupted = new AtomicInteger();
            rig.peer().workConsumer().consume(Context.background(), WorkKind.MCP_CI, 1, (context, payload, events) -> {
                started.countDown();
                Await.latch(release);
                if (Thread.currentThread().isInterrupted()) {
                    interrupted.incrementAndGet();
                }
                done.incrementAndGet();
            });
            for (int i = 0; i < 10; i++) {
                rig.here().workQueue().enqueue(Context.background(), WorkKind.MCP_CI, new byte[0]);
            }
            rig.here().workQueue().flush(Duration.ofSeconds(5));
            Await.latch(started);
            rig.breakLink();
            Await.until("the link is down", () -> !rig.peer().connected());
            rig.restoreLink();
            release.countDown();
            Await.until("all that was accepted ran", () -> done.get() == 10);
            assertEquals(0, interrupted.get());
        }
    }

    @Test
    void b36APeerThatStopsReadingDelaysNobodyElseAndItsBufferIsBounded() {
        try (NatsRig rig = new NatsRig()) {
            CountDownLatch release = new CountDownLatch(1);
            AtomicInteger slow = new AtomicInteger();
            AtomicInteger quick = new AtomicInteger();
            rig.peer().broadcaster().subscribe("jobs.new", message -> {
                Await.latch(release);
                slow.incrementAndGet();
            });
            rig.peer().broadcaster().subscribe("jobs.new", message -> quick.incrementAndGet());
            int all = NatsSubscription.MOST_WAITING + 5_000;
            for (int i = 0; i < all; i++) {
                rig.here().broadcaster().publish("jobs.new", new byte[0]);
            }
            Await.until("the other one has all", () -> quick.get() == all);
            assertEquals(
                    1,
                    rig.recorder().lines().stream()
                            .filter(line -> line.contains("slow subscriber"))
                            .count());
            release.countDown();
            Await.until("what was kept", () -> slow.get() >= NatsSubscription.MOST_WAITING);
            assertTrue(slow.get() <= NatsSubscription.MOST_WAITING + 1, slow.toString());
        }
    }

    @Test
    void b36AServerThatStandsStillFailsCallsInTimeAndIsTakenUpAgain() {
        try (NatsRig rig = new NatsRig()) {
            AtomicInteger seen = new AtomicInteger();
            rig.here().broadcaster().subscribe("jobs.new", message -> seen.incrementAndGet());
            rig.server.pause();
            assertThrows(
                    org.nemorelay.seams.TimedOutException.class,
                    () -> rig.here().commands().listBackends("n"));
            assertThrows(
                    org.nemorelay.seams.TimedOutException.class,
                    () -> rig.here().broadcaster().flush(Duration.ofMillis(200)));
            rig.server.resume();
            rig.peer().broadcaster().publish("jobs.new", new byte[0]);
            Await.until("delivered", () -> seen.get() == 1);
        }
    }
}
