package org.nemorelay.carrier.local.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoCarrierException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.seams.staging.TransferProgress;
import org.nemorelay.testkit.Await;

class LocalEndTest {
    @TempDir
    Path folder;

    @Test
    void whatHasArrivedIsHandedOverAndThenNothingIsTaken() {
        LocalRig rig = new LocalRig();
        AtomicInteger seen = new AtomicInteger();
        rig.here().broadcaster().subscribe("jobs.new", message -> seen.incrementAndGet());
        for (int i = 0; i < 100; i++) {
            rig.here().broadcaster().publish("jobs.new", new byte[0]);
        }
        rig.close();
        assertEquals(100, seen.get());
        assertFalse(rig.here().connected());
        assertThrows(NoCarrierException.class, () -> rig.here().broadcaster().publish("jobs.new", new byte[0]));
        assertThrows(NoCarrierException.class, () -> rig.here().commands().listBackends("n"));
    }

    @Test
    void aCallThatWaitsFailsAsUnreachable() {
        LocalRig rig = new LocalRig();
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        rig.here().controlServer("n").handle(ControlVerb.BACKEND_LIST, Need.MANDATORY, (context, body, progress) -> {
            started.countDown();
            Await.latch(release);
            return new Outcome.Silent();
        });
        AtomicReference<Throwable> outcome = new AtomicReference<>();
        Thread caller = Thread.ofVirtual().start(() -> {
            try {
                rig.here().commands().listBackends("n");
            } catch (UnreachableException e) {
                outcome.set(e);
            }
        });
        Await.latch(started);
        Thread closing = Thread.ofVirtual().start(rig::close);
        Await.until("the caller is told", () -> !caller.isAlive());
        assertTrue(outcome.get().getMessage().contains("closed"));
        release.countDown();
        Await.until("closed", () -> !closing.isAlive());
    }

    @Test
    void theStoresFolderIsRemoved() throws Exception {
        LocalRig rig = new LocalRig();
        Path file = Files.write(folder.resolve("f"), new byte[10]);
        rig.here().store().put(Context.background(), "models/a/f", file, TransferProgress.none());
        Path store = ((FolderStore) rig.here().store()).root();
        assertTrue(Files.exists(store.resolve("models/a/f")));
        rig.close();
        assertFalse(Files.exists(store));
    }

    @Test
    void aSubscriberThatFallsTooFarBehindLosesWhatComesThenAndThatIsSaid() {
        try (LocalRig rig = new LocalRig()) {
            CountDownLatch release = new CountDownLatch(1);
            AtomicInteger seen = new AtomicInteger();
            rig.here().broadcaster().subscribe("jobs.new", message -> {
                Await.latch(release);
                seen.incrementAndGet();
            });
            for (int i = 0; i < LocalSubscription.CAPACITY + 1000; i++) {
                rig.here().broadcaster().publish("jobs.new", new byte[0]);
            }
            release.countDown();
            Await.until("what was kept", () -> seen.get() >= LocalSubscription.CAPACITY);
            assertTrue(seen.get() <= LocalSubscription.CAPACITY + 1);
            assertEquals(
                    1,
                    rig.recorder().lines().stream()
                            .filter(line -> line.contains("slow subscriber"))
                            .count());
        }
    }
}
