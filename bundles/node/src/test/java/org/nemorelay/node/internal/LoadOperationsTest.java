package org.nemorelay.node.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.testkit.Await;

/** A load that its frontend has left is ended (distributed-seams 4.8). */
class LoadOperationsTest {
    private final AtomicLong now = new AtomicLong(Long.MAX_VALUE - 1_000);
    private final List<String> abandoned = new CopyOnWriteArrayList<>();
    private final LoadOperations operations = new LoadOperations(abandoned::add, now::get);

    @AfterEach
    void close() {
        operations.close();
    }

    private void pass(Duration time) {
        now.addAndGet(time.toNanos());
        operations.tick();
    }

    @Test
    void withoutARenewalItIsAbandonedAfterNinetySeconds() {
        operations.begin("op", "m#0", 0);
        pass(Duration.ofSeconds(89));
        assertEquals("op", operations.id("m#0"));
        pass(Duration.ofSeconds(1));
        Await.until("abandoned", () -> abandoned.equals(List.of("m#0")));
        assertEquals("", operations.id("m#0"));
        pass(Duration.ofHours(1));
        assertEquals(List.of("m#0"), abandoned, "once");
    }

    @Test
    void renewalsKeepItUntilItsDeadline() {
        operations.begin("op", "m#0", 300_000);
        for (int i = 0; i < 29; i++) {
            pass(Duration.ofSeconds(10));
            assertEquals(List.of("op"), operations.renew(List.of("other", "op", "")));
        }
        assertEquals(List.of(), abandoned);
        pass(Duration.ofSeconds(10));
        Await.until("abandoned", () -> abandoned.equals(List.of("m#0")));
        assertEquals(List.of(), operations.renew(List.of("op")));
    }

    @Test
    void askingAgainKeepsTheRecord() {
        operations.begin("op", "m#0", 60_000);
        pass(Duration.ofSeconds(30));
        operations.begin("op", "m#0", 60_000);
        pass(Duration.ofSeconds(30));
        Await.until("at the first one's deadline", () -> abandoned.equals(List.of("m#0")));
    }

    @Test
    void oneWithoutAnIdHasItsDeadlineAlone() {
        operations.begin("", "m#0", 0);
        pass(Duration.ofMinutes(44));
        assertEquals(List.of(), operations.renew(List.of("")));
        pass(Duration.ofMinutes(1));
        Await.until("abandoned", () -> abandoned.equals(List.of("m#0")));
    }

    @Test
    void oneThatIsCompleteOrFailedIsNoLongerWatched() {
        operations.begin("a", "m#0", 0);
        operations.begin("b", "m#1", 0);
        assertEquals(Optional.of("m#1"), operations.key("b"));
        operations.complete(List.of("a", "unknown", ""));
        operations.failed("m#1");
        assertEquals(Optional.empty(), operations.key("a"));
        pass(Duration.ofHours(1));
        assertEquals(List.of(), abandoned);
    }

    @Test
    void aLaterLoadOfAKeyTakesItOver() {
        operations.begin("a", "m#0", 0);
        pass(Duration.ofSeconds(60));
        operations.begin("b", "m#0", 0);
        pass(Duration.ofSeconds(60));
        assertEquals("b", operations.id("m#0"));
        assertEquals(List.of(), operations.renew(List.of("a")));
        assertEquals(List.of(), abandoned);
    }
}
