package org.nemorelay.carriers.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.seams.Message;

class MergeTest {
    private static final long HOLD = 1_000;

    private final List<Long> delivered = new ArrayList<>();
    private final Merge merge = new Merge(
            message -> delivered.add(Long.parseLong(new String(message.body(), StandardCharsets.UTF_8))), HOLD);

    private static Message message(long number, int epoch, int also) {
        byte[] body = Long.toString(number).getBytes(StandardCharsets.UTF_8);
        return new Order(7, number, epoch, also).on(Message.of("jobs.new", body));
    }

    @Test
    void oneWayIsPassedOnAsItComes() {
        int a = merge.attach();
        for (long number : new long[] {5, 6, 9}) {
            assertFalse(merge.offer(a, message(number, 1, 0), 0));
        }
        merge.offer(a, message(6, 1, 0), 0);
        assertEquals(List.of(5L, 6L, 9L), delivered);
    }

    @Test
    void theHeaderIsGoneAndOthersStay() {
        List<Message> seen = new ArrayList<>();
        Merge plain = new Merge(seen::add, HOLD);
        int a = plain.attach();
        Message sent = new Message("jobs.new", Map.of("A", "1"), new byte[] {1});
        plain.offer(a, new Order(-1, Long.MAX_VALUE, Integer.MAX_VALUE, 0).on(sent), 0);
        assertEquals(Map.of("A", "1"), seen.getFirst().headers());
        assertEquals(sent.body(), seen.getFirst().body());
    }

    @Test
    void anotherProductsMessagesAreTakenFromOneCarrierAlone() {
        List<Message> seen = new ArrayList<>();
        Merge plain = new Merge(seen::add, HOLD);
        int a = plain.attach();
        int b = plain.attach();
        Message foreign = Message.of("jobs.new", new byte[0]);
        plain.offer(a, foreign, 0);
        plain.offer(b, foreign, 0);
        assertEquals(1, seen.size());
        plain.detach(a, 0);
        plain.offer(b, foreign, 0);
        assertEquals(2, seen.size());
    }

    @Test
    void whatANewWayBringsFirstWaitsForTheOldOne() {
        int a = merge.attach();
        merge.offer(a, message(1, 1, 0), 0);
        int b = merge.attach();
        assertTrue(merge.offer(b, message(3, 1, 0), 0));
        assertTrue(merge.offer(b, message(4, 1, 0), 0));
        merge.offer(a, message(2, 1, 0), 0);
        assertEquals(List.of(1L, 2L), delivered);
        merge.offer(a, message(3, 1, 0), 0);
        assertEquals(List.of(1L, 2L, 3L, 4L), delivered);
        merge.offer(b, message(5, 1, 0), 0);
        merge.offer(a, message(4, 1, 0), 0);
        merge.offer(a, message(5, 1, 0), 0);
        assertEquals(List.of(1L, 2L, 3L, 4L, 5L), delivered);
    }

    @Test
    void theEndOfTheOldWayReleasesWhatIsHeld() {
        int a = merge.attach();
        merge.offer(a, message(1, 1, 0), 0);
        int b = merge.attach();
        merge.offer(b, message(2, 2, 0), 0);
        assertEquals(List.of(1L), delivered);
        merge.detach(a, 0);
        assertEquals(List.of(1L, 2L), delivered);
    }

    @Test
    void aSilentPublishersNewWayIsJoinedAfterAWhile() {
        int a = merge.attach();
        merge.offer(a, message(1, 1, 0), 0);
        assertTrue(merge.offer(a, message(5, 2, 0), 100));
        assertTrue(merge.expire(100 + HOLD - 1));
        assertEquals(List.of(1L), delivered);
        assertFalse(merge.expire(100 + HOLD));
        assertEquals(List.of(1L, 5L), delivered);
    }

    @Test
    void signsOfTheOldWayMakeTheHeldOnesWaitOn() {
        int a = merge.attach();
        merge.offer(a, message(1, 1, 0), 0);
        merge.offer(a, message(4, 2, 1), 0);
        merge.offer(a, message(2, 1, 0), 900);
        assertTrue(merge.expire(1_100));
        merge.offer(a, message(3, 1, 0), 1_200);
        merge.offer(a, message(4, 1, 2), 1_300);
        assertEquals(List.of(1L, 2L, 3L, 4L), delivered);
    }

    /**
     * A publisher that changes carriers and a subscriber that does so at another time, every way with a delay of its own:
     * whatever the interleaving, each message once and in order.
     */
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4})
    void everyInterleavingGivesEachMessageOnceAndInOrder(int seed) {
        for (int round = 0; round < 2_000; round++) {
            delivered.clear();
            interleave(new Random(seed * 1_000_003L + round));
        }
    }

    private void interleave(Random random) {
        List<Long> seen = new ArrayList<>();
        Merge merging = new Merge(
                message -> seen.add(Long.parseLong(new String(message.body(), StandardCharsets.UTF_8))), HOLD);
        int count = 30;
        // The publisher sends on epoch 1 up to `both`, on both up to `only`, then on epoch 2.
        int both = 1 + random.nextInt(count);
        int only = both + 1 + random.nextInt(6);
        // The subscriber's second attachment sees what is sent from `from` on, its first what is sent before `until`.
        int from = 1 + random.nextInt(count);
        int until = from + 1 + random.nextInt(10);
        int first = merging.attach();
        int second = 0;
        Map<Integer, Deque<Message>> ways = new java.util.HashMap<>();
        IntStream.range(0, 4).forEach(way -> ways.put(way, new ArrayDeque<>()));
        boolean left = false;
        for (int number = 1; number <= count || ways.values().stream().anyMatch(way -> !way.isEmpty()) || !left; ) {
            if (number <= count && (random.nextInt(3) > 0)) {
                if (number == from) {
                    second = merging.attach();
                }
                boolean onOld = number < only;
                boolean onNew = number >= both;
                for (int attachment = 0; attachment < 2; attachment++) {
                    boolean hears = attachment == 0 ? number < until : number >= from;
                    if (hears && onOld) {
                        ways.get(attachment * 2).add(message(number, 1, onNew ? 2 : 0));
                    }
                    if (hears && onNew) {
                        ways.get(attachment * 2 + 1).add(message(number, 2, onOld ? 1 : 0));
                    }
                }
                number++;
            } else {
                int way = random.nextInt(4);
                if (!ways.get(way).isEmpty()) {
                    merging.offer(way < 2 ? first : second, ways.get(way).remove(), 0);
                }
            }
            boolean oldIsEmpty = ways.get(0).isEmpty() && ways.get(1).isEmpty();
            if (!left && number > Math.min(until, count) && oldIsEmpty && (number >= until || number > count)) {
                merging.detach(first, 0);
                left = true;
            }
            if (number > count && second == 0) {
                second = merging.attach();
            }
        }
        merging.expire(HOLD * 10);
        List<Long> expected = new ArrayList<>();
        IntStream.rangeClosed(1, count).forEach(number -> expected.add((long) number));
        assertEquals(expected, seen, "both " + both + " only " + only + " from " + from + " until " + until);
    }
}
