package org.nemorelay.carriers.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.testkit.Await;
import org.nemorelay.workerctl.BackendListReply;

/** Messages, jobs and calls while the carrier is changed twenty times: nothing is lost, doubled or out of order. */
class SwapSoakTest {
    private static final int SWAPS = 20;
    private static final int PUBLISHERS = 2;
    private static final int CALLERS = 4;

    private volatile boolean going = true;

    @Test
    void nothingIsMissingDoubledOrOutOfOrder() throws InterruptedException {
        FacadeRig rig = new FacadeRig();
        Facades facades = rig.facades;
        AtomicInteger[] last = new AtomicInteger[PUBLISHERS];
        AtomicLong wrong = new AtomicLong();
        for (int i = 0; i < PUBLISHERS; i++) {
            AtomicInteger seen = last[i] = new AtomicInteger();
            facades.broadcaster().subscribe("jobs.p" + i + ".progress", message -> {
                if (!seen.compareAndSet(number(message.body()) - 1, number(message.body()))) {
                    wrong.incrementAndGet();
                }
            });
        }
        AtomicLong atWildcard = new AtomicLong();
        facades.broadcaster().subscribe("jobs.*.progress", message -> atWildcard.incrementAndGet());
        Map<Integer, AtomicInteger> runs = new ConcurrentHashMap<>();
        AtomicInteger inFlight = new AtomicInteger();
        AtomicInteger peak = new AtomicInteger();
        facades.workConsumer().consume(Context.background(), WorkKind.MCP_CI, 1, (context, payload, events) -> {
            peak.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
            runs.computeIfAbsent(number(payload), key -> new AtomicInteger()).incrementAndGet();
            inFlight.decrementAndGet();
        });
        facades.controlServer("n")
                .handle(
                        ControlVerb.BACKEND_LIST,
                        Need.MANDATORY,
                        ControlHandler.unary(context -> new BackendListReply(List.of(), "")));

        List<Thread> traffic = new ArrayList<>();
        int[] published = new int[PUBLISHERS];
        for (int i = 0; i < PUBLISHERS; i++) {
            int publisher = i;
            traffic.add(Thread.ofVirtual().start(() -> {
                while (going) {
                    byte[] body = body(++published[publisher]);
                    facades.broadcaster().publish("jobs.p" + publisher + ".progress", body);
                    LockSupport.parkNanos(20_000);
                }
            }));
        }
        AtomicInteger accepted = new AtomicInteger();
        traffic.add(Thread.ofVirtual().start(() -> {
            while (going) {
                facades.workQueue().enqueue(Context.background(), WorkKind.MCP_CI, body(accepted.get()));
                accepted.incrementAndGet();
                LockSupport.parkNanos(50_000);
            }
        }));
        AtomicInteger calls = new AtomicInteger();
        List<Throwable> unexplained = java.util.Collections.synchronizedList(new ArrayList<>());
        for (int i = 0; i < CALLERS; i++) {
            traffic.add(Thread.ofVirtual().start(() -> {
                while (going) {
                    try {
                        facades.commands().listBackends("n");
                        calls.incrementAndGet();
                    } catch (RuntimeException e) {
                        unexplained.add(e);
                    }
                    LockSupport.parkNanos(50_000);
                }
            }));
        }
        for (int swap = 0; swap < SWAPS; swap++) {
            int before = calls.get();
            Await.until("calls go on", () -> calls.get() > before + 20 || !unexplained.isEmpty());
            rig.carriers.use(swap % 2 == 0 ? "two" : "one", Duration.ofSeconds(30));
        }
        going = false;
        for (Thread thread : traffic) {
            thread.join();
        }
        Await.until("every job ran", () -> runs.size() == accepted.get());
        Await.until("every message came", () -> last[0].get() == published[0] && last[1].get() == published[1]);
        Await.until("the wildcard has all", () -> atWildcard.get() == published[0] + published[1]);
        Await.until("nothing retires", () -> rig.carriers.status().retiring().isEmpty());
        assertEquals(0, wrong.get(), "doubled or out of order");
        assertTrue(runs.values().stream().allMatch(count -> count.get() == 1), "jobs doubled");
        assertEquals(1, peak.get());
        assertEquals(List.of(), unexplained);
        assertEquals(SWAPS + 1, rig.carriers.status().switches());
        assertEquals(List.of(), rig.recorder().failures());
        rig.close();
        Await.until(
                "no thread is left",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith("carriers-")));
    }

    private static byte[] body(int number) {
        return ByteBuffer.allocate(4).putInt(number).array();
    }

    private static int number(byte[] body) {
        return ByteBuffer.wrap(body).getInt();
    }
}
