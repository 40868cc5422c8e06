package org.nemorelay.pluginhost.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.plugin.api.Event;
import org.nemorelay.plugin.api.EventSubscriber;

@Timeout(60)
class SubscribersDoNotDisturbEachOtherTest {
    private final MemoryLog events = new MemoryLog();
    private final List<String> log = events.messages;

    @Test
    void aFullQueueDropsAndCounts() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch release = new CountDownLatch(1);
        List<String> seen = new CopyOnWriteArrayList<>();
        SubscriberThread slow = thread(event -> {
            entered.countDown();
            release.await();
            seen.add(event.name());
        });
        for (int i = 0; i < 2000; i++) {
            slow.publish(PluginsAreBroughtUpTest.event("e" + i));
            if (i == 0) {
                entered.await();
            }
        }
        release.countDown();
        slow.flush().get(30, TimeUnit.SECONDS);
        assertEquals(1025, seen.size());
        assertEquals("e1024", seen.getLast());
        assertTrue(slow.close(1000));
        assertEquals(
                List.of(
                        "plugin x is slower than the events: some are dropped for it",
                        "plugin x was slower than the events: 975 were dropped for it"),
                log);
    }

    @Test
    void whatItThrowsIsLoggedAndTheNextEventFollows() throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        SubscriberThread failing = thread(event -> {
            seen.add(event.name());
            throw new IllegalStateException("no " + event.name());
        });
        failing.publish(PluginsAreBroughtUpTest.event("a"));
        failing.publish(PluginsAreBroughtUpTest.event("b"));
        failing.flush().get(30, TimeUnit.SECONDS);
        assertEquals(List.of("a", "b"), seen);
        assertEquals(List.of("plugin x failed in onEvent: no a", "plugin x failed in onEvent: no b"), log);
        assertTrue(failing.close(1000));
    }

    /** Nothing that a subscriber throws or leaves behind in its thread keeps it from the next event. */
    @Test
    void whateverItThrowsItGoesOn() throws Exception {
        List<String> seen = new CopyOnWriteArrayList<>();
        SubscriberThread failing = thread(event -> {
            seen.add(event.name());
            switch (event.name()) {
                case "error" -> throw new Error("of its own");
                case "interrupted" -> throw new InterruptedException("by itself");
                case "interrupting" -> Thread.currentThread().interrupt();
                case "mute" ->
                    throw new IllegalStateException() {
                        private static final long serialVersionUID = 1L;

                        @Override
                        public String getMessage() {
                            throw new IllegalStateException();
                        }
                    };
                case "endless" -> throw new IllegalStateException("x\n".repeat(100_000));
                default -> {}
            }
        });
        List<String> all = List.of("error", "interrupted", "interrupting", "mute", "endless", "last");
        for (String name : all) {
            failing.publish(PluginsAreBroughtUpTest.event(name));
            failing.flush().get(30, TimeUnit.SECONDS);
        }
        assertEquals(all, seen);
        List<String> failures = log.stream()
                .filter(line -> line.startsWith("plugin x failed in onEvent: "))
                .map(line -> line.substring("plugin x failed in onEvent: ".length()))
                .toList();
        assertEquals(4, failures.size(), log::toString);
        assertEquals(List.of("of its own", "by itself"), failures.subList(0, 2));
        assertTrue(failures.get(2).startsWith(getClass().getName()), failures.get(2));
        assertTrue(failures.get(3).startsWith("x x x") && failures.get(3).length() < 2_000, failures.get(3));
        assertTrue(failing.close(1000));
    }

    @Test
    void itIsInTroubleFromTheFirstFailureUntilAnEventAndAFlushSucceed() throws Exception {
        AtomicBoolean eventsFail = new AtomicBoolean(true);
        AtomicBoolean flushFails = new AtomicBoolean(true);
        List<String> told = new CopyOnWriteArrayList<>();
        CountDownLatch recovered = new CountDownLatch(2);
        SubscriberThread[] self = new SubscriberThread[1];
        EventSubscriber subscriber = new EventSubscriber() {
            @Override
            public void onEvent(Event event) throws IOException {
                if (eventsFail.get()) {
                    throw new IOException("disk full");
                }
            }

            @Override
            public void flush() throws IOException {
                if (flushFails.get()) {
                    throw new IOException("still in my hands");
                }
            }
        };
        self[0] = new SubscriberThread(
                "x",
                events,
                () -> Optional.of(subscriber),
                sink -> {},
                () -> {
                    told.add(self[0].trouble());
                    recovered.countDown();
                },
                SubscriberThread.IDLE_NANOS);
        self[0].publish(PluginsAreBroughtUpTest.event("a"));
        self[0].publish(PluginsAreBroughtUpTest.event("b"));
        self[0].taken().get(30, TimeUnit.SECONDS);
        assertEquals(List.of("plugin x failed in onEvent: disk full"), told);
        flushFails.set(false);
        self[0].flush().get(30, TimeUnit.SECONDS);
        assertEquals("plugin x failed in onEvent: disk full", self[0].trouble(), "no event was taken since");
        flushFails.set(true);
        eventsFail.set(false);
        self[0].publish(PluginsAreBroughtUpTest.event("c"));
        self[0].flush().get(30, TimeUnit.SECONDS);
        assertEquals("plugin x failed in onEvent: disk full", self[0].trouble(), "it says that it still has them");
        flushFails.set(false);
        assertTrue(recovered.await(30, TimeUnit.SECONDS), "it is looked for without another event");
        assertEquals(List.of("plugin x failed in onEvent: disk full", ""), told);
        assertEquals(
                1,
                log.stream()
                        .filter(line -> line.startsWith("plugin x takes events again"))
                        .count());
        assertTrue(self[0].close(1000));
    }

    @Test
    void oneThatBlocksIsLeftBehindInTime() throws Exception {
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch entered = new CountDownLatch(1);
        SubscriberThread stuck = thread(event -> {
            entered.countDown();
            while (never.getCount() > 0) {
                try {
                    never.await();
                } catch (InterruptedException e) {
                    // Deaf to interrupts.
                }
            }
        });
        stuck.publish(PluginsAreBroughtUpTest.event("a"));
        entered.await();
        assertFalse(stuck.close(50));
        never.countDown();
    }

    private SubscriberThread thread(Receiver receiver) {
        EventSubscriber subscriber = new EventSubscriber() {
            @Override
            public void onEvent(Event event) throws Exception {
                receiver.receive(event);
            }
        };
        return new SubscriberThread(
                "x", events, () -> Optional.of(subscriber), sink -> {}, () -> {}, SubscriberThread.IDLE_NANOS);
    }

    /** A server that does not answer is known some time after the last event, and then somebody has to hear of it. */
    @Test
    void whatFailsAfterTheLastEventIsToldWithoutAnother() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        SubscriberThread thread = idling(told::countDown, () -> {
            throw new IOException("nobody answers there");
        });
        thread.publish(PluginsAreBroughtUpTest.event("a"));
        assertTrue(told.await(30, TimeUnit.SECONDS));
        assertEquals("plugin x failed in flush: nobody answers there", thread.trouble());
        thread.close(1000);
    }

    @Test
    void whoHasPutAwayWhatItHasIsNotAskedAgain() throws Exception {
        Semaphore flushes = new Semaphore(0);
        SubscriberThread thread = idling(() -> {}, flushes::release);
        for (int i = 0; i < 3; i++) {
            thread.publish(PluginsAreBroughtUpTest.event("a"));
            assertTrue(flushes.tryAcquire(30, TimeUnit.SECONDS));
            assertFalse(flushes.tryAcquire(50, TimeUnit.MILLISECONDS));
        }
        assertEquals("", thread.trouble());
        thread.close(1000);
    }

    private SubscriberThread idling(Runnable troubleChanged, Flushing flushing) {
        EventSubscriber subscriber = new EventSubscriber() {
            @Override
            public void onEvent(Event event) {}

            @Override
            public void flush() throws IOException {
                flushing.flush();
            }
        };
        return new SubscriberThread("x", events, () -> Optional.of(subscriber), sink -> {}, troubleChanged, 1);
    }

    private interface Flushing {
        void flush() throws IOException;
    }

    private interface Receiver {
        void receive(Event event) throws Exception;
    }
}
