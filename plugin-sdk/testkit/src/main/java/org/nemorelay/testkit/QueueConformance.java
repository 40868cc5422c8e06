package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.AbsentException;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.PayloadTooLargeException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkHandler;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.carrier.Seam;

/** Queues and both concurrency models (distributed-seams 3.2). */
public abstract class QueueConformance extends Conformance {
    private static final Duration QUIET = Duration.ofMillis(200);

    private final Map<String, AtomicInteger> runs = new ConcurrentHashMap<>();

    @Override
    final Seam seam() {
        return Seam.QUEUES;
    }

    private void enqueue(WorkKind kind, String payload) {
        rig().here().workQueue().enqueue(Context.background(), kind, bytes(payload));
    }

    private Subscription consume(WorkKind kind, int maxInFlight, WorkHandler handler) {
        return rig().peer().workConsumer().consume(Context.background(), kind, maxInFlight, handler);
    }

    private int runs() {
        return runs.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    private void ran(byte[] payload) {
        runs.computeIfAbsent(text(payload), key -> new AtomicInteger()).incrementAndGet();
    }

    @Test
    void aHandlerGetsThePayloadAndAPublisher() {
        AtomicReference<Message> result = new AtomicReference<>();
        rig().here().broadcaster().subscribe(Subjects.jobResult("1"), result::set);
        consume(WorkKind.MCP_CI, 1, (context, payload, events) -> events.publish(Subjects.jobResult("1"), payload));
        enqueue(WorkKind.MCP_CI, "job");
        Await.until("the result", () -> result.get() != null);
        assertEquals("job", text(result.get().body()));
    }

    @Test
    void eachUnitRunsAtExactlyOneConsumer() {
        for (int i = 0; i < 3; i++) {
            consume(WorkKind.AGENT_RUN, 0, (context, payload, events) -> ran(payload));
        }
        for (int i = 0; i < 60; i++) {
            enqueue(WorkKind.AGENT_RUN, "u" + i);
        }
        Await.until("all sixty", () -> runs.size() == 60);
        Await.never("a second run", QUIET, () -> runs() > 60);
    }

    @Test
    void kindsDoNotMix() {
        consume(WorkKind.TASK, 1, (context, payload, events) -> ran(bytes("task " + text(payload))));
        consume(WorkKind.MCP_CI, 1, (context, payload, events) -> ran(bytes("ci " + text(payload))));
        enqueue(WorkKind.TASK, "1");
        enqueue(WorkKind.MCP_CI, "2");
        Await.until("both", () -> runs() == 2);
        assertEquals(Set.of("task 1", "ci 2"), runs.keySet());
    }

    @Test
    void acceptingSaysNothingAboutAConsumer() {
        enqueue(WorkKind.TASK, "nobody");
        rig().here().workQueue().flush(Duration.ofSeconds(5));
    }

    @Test
    void aLimitOfOneRunsOnTheDeliveryThreadOneByOne() {
        assertEquals(1, peak(WorkKind.MCP_CI, 1, 20));
    }

    @Test
    void aLimitOfThreeIsReachedAndNeverPassed() {
        assertEquals(3, peak(WorkKind.AGENT_RUN, 3, 30));
    }

    private int peak(WorkKind kind, int limit, int units) {
        AtomicInteger now = new AtomicInteger();
        AtomicInteger peak = new AtomicInteger();
        CountDownLatch full = new CountDownLatch(limit);
        consume(kind, limit, (context, payload, events) -> {
            peak.accumulateAndGet(now.incrementAndGet(), Math::max);
            full.countDown();
            Await.latch(full);
            now.decrementAndGet();
            ran(payload);
        });
        for (int i = 0; i < units; i++) {
            enqueue(kind, "u" + i);
        }
        Await.until("all units ran", () -> runs() == units);
        return peak.get();
    }

    @Test
    void zeroAndLessAreUnbounded() {
        for (int limit : new int[] {0, -1}) {
            CountDownLatch all = new CountDownLatch(12);
            Subscription subscription = consume(WorkKind.AGENT_RUN, limit, (context, payload, events) -> {
                all.countDown();
                Await.latch(all);
            });
            for (int i = 0; i < 12; i++) {
                enqueue(WorkKind.AGENT_RUN, "u" + i);
            }
            Await.latch(all);
            subscription.unsubscribe();
        }
    }

    @Test
    void unsubscribeWaitsForRunningHandlersAndTakesNoMore() {
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Subscription subscription = consume(WorkKind.AGENT_RUN, 0, (context, payload, events) -> {
            started.countDown();
            Await.latch(release);
            ran(payload);
        });
        enqueue(WorkKind.AGENT_RUN, "first");
        Await.latch(started);
        Thread ending = Thread.ofVirtual().start(subscription::unsubscribe);
        Await.never("it ends while a handler runs", QUIET, () -> !ending.isAlive());
        release.countDown();
        Await.until("it ends", () -> !ending.isAlive());
        enqueue(WorkKind.AGENT_RUN, "late");
        Await.never("the late one runs", QUIET, () -> runs() > 1);
        assertEquals(1, runs());
    }

    @Test
    void drainRunsWhatHasArrived() {
        needs(Capability.OWN_DELIVERY_THREADS);
        CountDownLatch started = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        Subscription subscription = consume(WorkKind.MCP_CI, 1, (context, payload, events) -> {
            started.countDown();
            Await.latch(release);
            ran(payload);
        });
        for (int i = 0; i < 10; i++) {
            enqueue(WorkKind.MCP_CI, "u" + i);
        }
        rig().here().workQueue().flush(Duration.ofSeconds(5));
        Await.latch(started);
        Thread ending = Thread.ofVirtual().start(subscription::drain);
        release.countDown();
        Await.until("it ends", () -> !ending.isAlive());
        assertEquals(10, runs());
    }

    @Test
    void drainRunsWhatHasArrivedAlsoWhereEachHasItsThread() {
        needs(Capability.OWN_DELIVERY_THREADS);
        for (int limit : new int[] {0, 3}) {
            for (int round = 0; round < 20; round++) {
                int before = runs();
                Subscription subscription =
                        consume(WorkKind.AGENT_RUN, limit, (context, payload, events) -> ran(payload));
                for (int i = 0; i < 10; i++) {
                    enqueue(WorkKind.AGENT_RUN, "u" + i);
                }
                rig().here().workQueue().flush(Duration.ofSeconds(5));
                subscription.drain();
                assertEquals(10, runs() - before);
            }
        }
    }

    @Test
    void aUnitThatCannotBeServedIsLoggedAndNotRepeated() {
        for (int limit : new int[] {1, 0}) {
            runs.clear();
            Subscription subscription = consume(WorkKind.MCP_CI, limit, (context, payload, events) -> {
                ran(payload);
                throw text(payload).equals("io") ? new IOException("disk") : new AbsentException("link");
            });
            enqueue(WorkKind.MCP_CI, "io");
            enqueue(WorkKind.MCP_CI, "seam");
            Await.until("both were tried", () -> runs() == 2);
            Await.never("a repeat", QUIET, () -> runs() > 2);
            subscription.unsubscribe();
        }
        assertEquals(0, rig().recorder().failures().size());
        assertTrue(
                rig().recorder().lines().stream().anyMatch(line -> line.startsWith("WARN") && line.contains("disk")));
    }

    @Test
    void aFaultWithALimitOfOneClosesTheConsumerIsReportedOnceAndEndsTheProcess() {
        consume(WorkKind.MCP_CI, 1, (context, payload, events) -> {
            ran(payload);
            throw new IllegalStateException("fault");
        });
        enqueue(WorkKind.MCP_CI, "first");
        Await.until("the process ends", () -> rig().recorder().failures().size() == 1);
        enqueue(WorkKind.MCP_CI, "second");
        Await.never(
                "another delivery",
                QUIET,
                () -> runs() > 1 || rig().recorder().failures().size() > 1);
        String report = rig().recorder().failures().getFirst().getMessage();
        assertTrue(report.contains("mcp-ci") && report.contains("number") && report.contains("fault"), report);
    }

    @Test
    void aFaultInTheOtherModelIsCaughtAndTheConsumerGoesOn() {
        consume(WorkKind.AGENT_RUN, 2, (context, payload, events) -> {
            ran(payload);
            throw new IllegalStateException("fault");
        });
        for (int i = 0; i < 6; i++) {
            enqueue(WorkKind.AGENT_RUN, "u" + i);
        }
        Await.until("all six were tried", () -> runs() == 6);
        Await.until(
                "each was logged",
                () -> rig().recorder().lines().stream()
                                .filter(line -> line.startsWith("ERROR"))
                                .count()
                        == 6);
        assertEquals(0, rig().recorder().failures().size());
    }

    @Test
    void cancellingReleasesADeliveryThatWaitsForASlotAndDropsIt() {
        needs(Capability.OWN_DELIVERY_THREADS);
        CountDownLatch started = new CountDownLatch(2);
        CountDownLatch release = new CountDownLatch(1);
        Context.Cancellable context = Context.background().cancellable();
        rig().peer().workConsumer().consume(context, WorkKind.AGENT_RUN, 2, (given, payload, events) -> {
            started.countDown();
            Await.latch(release);
            ran(payload);
        });
        enqueue(WorkKind.AGENT_RUN, "a");
        enqueue(WorkKind.AGENT_RUN, "b");
        Await.latch(started);
        enqueue(WorkKind.AGENT_RUN, "waits");
        context.cancel();
        Await.until(
                "the waiting one is dropped",
                () -> rig().recorder().lines().stream().anyMatch(line -> line.contains("slot")));
        release.countDown();
        Await.until("the running ones end", () -> runs() == 2);
        Await.never("the dropped one runs", QUIET, () -> runs() > 2);
    }

    @Test
    void aHandlerMustNotEndItsOwnConsumer() {
        for (int limit : new int[] {1, 0}) {
            AtomicReference<Subscription> own = new AtomicReference<>();
            AtomicReference<Throwable> thrown = new AtomicReference<>();
            CountDownLatch known = new CountDownLatch(1);
            own.set(consume(WorkKind.TASK, limit, (context, payload, events) -> {
                Await.latch(known);
                try {
                    own.get().unsubscribe();
                } catch (IllegalStateException e) {
                    thrown.set(e);
                }
            }));
            known.countDown();
            enqueue(WorkKind.TASK, "x");
            Await.until("it is told so", () -> thrown.get() != null);
            own.get().unsubscribe();
        }
    }

    @Test
    void aCancelledContextEnqueuesNothingOrIsIgnored() {
        consume(WorkKind.TASK, 1, (context, payload, events) -> ran(payload));
        Context.Cancellable cancelled = Context.background().cancellable();
        cancelled.cancel();
        if (has(Capability.ENQUEUE_HEEDS_CONTEXT)) {
            assertThrows(
                    CancelledException.class,
                    () -> rig().here().workQueue().enqueue(cancelled, WorkKind.TASK, bytes("x")));
            Await.never("it runs", QUIET, () -> runs() > 0);
        } else {
            rig().here().workQueue().enqueue(cancelled, WorkKind.TASK, bytes("x"));
            Await.until("it runs", () -> runs() == 1);
        }
    }

    @Test
    void thePayloadLimitIsTheCarriersAndIsRefusedAtOnce() {
        AtomicInteger size = new AtomicInteger();
        consume(WorkKind.TASK, 1, (context, payload, events) -> size.set(payload.length));
        assertThrows(
                PayloadTooLargeException.class,
                () -> rig().here()
                        .workQueue()
                        .enqueue(Context.background(), WorkKind.TASK, new byte[rig().maxWork() + 1]));
        assertNotEquals(rig().maxWork(), size.get());
        rig().here().workQueue().enqueue(Context.background(), WorkKind.TASK, new byte[rig().maxWork()]);
        Await.until("the largest that fits", () -> size.get() == rig().maxWork());
    }
}
