package org.nemorelay.node.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.nemorelay.testkit.Await;

class KeyLocksTest {
    private final KeyLocks locks = new KeyLocks();

    @Test
    void oneHolderOfAKeyAtATime() throws InterruptedException {
        AtomicInteger inside = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            threads.add(Thread.ofVirtual().start(() -> {
                for (int n = 0; n < 50; n++) {
                    try (KeyLocks.Hold _ = locks.hold("key")) {
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        Thread.yield();
                        inside.decrementAndGet();
                    }
                }
            }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(1, most.get());
        assertEquals(0, locks.size());
    }

    @Test
    void otherKeysDoNotWaitAndNothingIsKept() {
        try (KeyLocks.Hold _ = locks.hold("one")) {
            Thread waiting = Thread.ofVirtual().start(() -> locks.hold("one").close());
            for (int i = 0; i < 1_000; i++) {
                locks.hold("key " + i).close();
            }
            Await.until("it waits", () -> waiting.getState() == Thread.State.WAITING);
            assertEquals(1, locks.size());
            assertTrue(waiting.isAlive());
        }
        Await.until("nobody holds anything", () -> locks.size() == 0);
    }
}
