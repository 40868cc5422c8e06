package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What every plugin may use without owning it: {@code CompletableFuture} runs on threads that nobody can end. */
@Timeout(30)
class ThreadsOfTheCommonPoolTest {
    @Test
    void areNoPluginsOwn() throws Exception {
        CompletableFuture<Thread> worker = new CompletableFuture<>();
        CompletableFuture.delayedExecutor(1, TimeUnit.MILLISECONDS, ForkJoinPool.commonPool())
                .execute(() -> worker.complete(Thread.currentThread()));
        assertTrue(Generation.shared(worker.get()), worker.get().toString());
        List<Thread> schedulers = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("commonPool") && thread != worker.resultNow())
                .filter(thread -> thread.getName().contains("elay"))
                .toList();
        assertEquals(1, schedulers.size(), "the JDK has another name for it now");
        assertTrue(Generation.shared(schedulers.getFirst()), schedulers.toString());
    }

    @Test
    void onesOwnThreadsAndPoolsAreOnesOwn() throws Exception {
        assertFalse(Generation.shared(new Thread(() -> {}, "ForkJoinPool.commonPool-delayScheduler")));
        assertFalse(Generation.shared(new Thread(() -> {}, "plain")));
        try (ForkJoinPool own = new ForkJoinPool(1)) {
            CompletableFuture<Thread> worker = new CompletableFuture<>();
            own.execute(() -> worker.complete(Thread.currentThread()));
            assertFalse(Generation.shared(worker.get()));
        }
    }
}
