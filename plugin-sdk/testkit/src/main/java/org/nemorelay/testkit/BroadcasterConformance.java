package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.AbsentException;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.PayloadTooLargeException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.UnservedSubjectException;
import org.nemorelay.seams.UnsupportedWildcardException;
import org.nemorelay.seams.carrier.Seam;

/** Fan-out (distributed-seams 2.5). */
public abstract class BroadcasterConformance extends Conformance {
    private static final Duration QUIET = Duration.ofMillis(300);
    private static final String MODELS = Subjects.cacheInvalidateModels();

    @Override
    final Seam seam() {
        return Seam.FAN_OUT;
    }

    private Broadcaster here() {
        return rig().here().broadcaster();
    }

    private Broadcaster peer() {
        return rig().peer().broadcaster();
    }

    private static List<Message> collect(Broadcaster broadcaster, String subject) {
        List<Message> messages = Collections.synchronizedList(new ArrayList<>());
        broadcaster.subscribe(subject, messages::add);
        return messages;
    }

    @Test
    void bothSubscribersGetOneMessage() {
        List<Message> one = collect(here(), MODELS);
        List<Message> other = collect(peer(), MODELS);
        here().publish(MODELS, bytes("x"));
        Await.until("both have it", () -> one.size() == 1 && other.size() == 1);
        assertEquals(MODELS, one.getFirst().subject());
    }

    @Test
    void aWildcardGetsItsMatchAndNotTheSibling() {
        List<Message> cancels = collect(peer(), "jobs.*.cancel");
        here().publish(Subjects.jobResult("a"), bytes("no"));
        here().publish(Subjects.jobCancel("a"), bytes("yes"));
        Await.until("the cancel", () -> cancels.size() == 1);
        Await.never("a sibling", QUIET, () -> cancels.size() > 1);
        assertEquals("yes", text(cancels.getFirst().body()));
    }

    @Test
    void nothingComesAfterUnsubscribe() {
        AtomicInteger seen = new AtomicInteger();
        Subscription subscription = here().subscribe(MODELS, message -> seen.incrementAndGet());
        here().publish(MODELS, bytes("x"));
        Await.until("the first", () -> seen.get() == 1);
        subscription.unsubscribe();
        subscription.unsubscribe();
        peer().publish(MODELS, bytes("x"));
        Await.never("a second", QUIET, () -> seen.get() > 1);
    }

    @Test
    void droppingOneOfTwoSubscriptionsLeavesTheOther() {
        AtomicInteger first = new AtomicInteger();
        AtomicInteger second = new AtomicInteger();
        here().subscribe(MODELS, message -> first.incrementAndGet());
        here().subscribe(MODELS, message -> second.incrementAndGet()).unsubscribe();
        peer().publish(MODELS, bytes("x"));
        Await.until("the first still gets it", () -> first.get() == 1);
        Await.never("the second gets it", QUIET, () -> second.get() > 0);
    }

    @Test
    void anUnservedRootIsRefusedBothWays() {
        assertThrows(UnservedSubjectException.class, () -> here().publish("nobody.x", bytes("x")));
        assertThrows(UnservedSubjectException.class, () -> here().subscribe("nobody.x", message -> {}));
    }

    @Test
    void theGreaterThanWildcardIsRefused() {
        assertThrows(UnsupportedWildcardException.class, () -> here().subscribe("jobs.>", message -> {}));
    }

    @Test
    void bodiesArriveByteForByte() {
        List<Message> seen = collect(peer(), MODELS);
        Random random = new Random(7);
        for (int size : new int[] {0, 1, 7_900, 7_999, 8_000, 65_536, rig().maxPayload()}) {
            byte[] body = new byte[size];
            random.nextBytes(body);
            seen.clear();
            here().publish(MODELS, body);
            Await.until(size + " bytes", () -> seen.size() == 1);
            assertArrayEquals(body, seen.getFirst().body());
        }
    }

    @Test
    void headersArriveAndTheBodyIsTheSame() {
        List<Message> seen = collect(peer(), MODELS);
        here().publish(new Message(MODELS, Map.of("Nemo-A", "1", "Nemo-B", "two words"), bytes("{}")));
        Await.until("the message", () -> seen.size() == 1);
        assertEquals(
                Map.of("Nemo-A", "1", "Nemo-B", "two words"), seen.getFirst().headers());
        assertEquals("{}", text(seen.getFirst().body()));
    }

    @Test
    void everyBroadcastRootCrossesBothWays() {
        for (String root : Subjects.BROADCAST_ROOTS.keySet()) {
            String subject = root + ".conformance.crossing";
            List<Message> atHere = collect(here(), subject);
            List<Message> atPeer = collect(peer(), subject);
            here().publish(subject, bytes("there"));
            peer().publish(subject, bytes("back"));
            Await.until(root + " crosses", () -> atHere.size() == 2 && atPeer.size() == 2);
        }
    }

    @Test
    void tooLargeABodyIsRefusedAtOnceAndTheRestGoesOn() {
        List<Message> seen = collect(peer(), MODELS);
        assertThrows(PayloadTooLargeException.class, () -> here().publish(MODELS, new byte[rig().maxPayload() + 1]));
        assertThrows(
                PayloadTooLargeException.class,
                () -> here().publish(new Message(MODELS, Map.of("Nemo-A", "1"), new byte[rig().maxPayload()])),
                "headers count");
        here().publish(MODELS, bytes("small"));
        Await.until("the small one", () -> seen.size() == 1);
    }

    @Test
    void messagesOfOnePublisherKeepTheirOrder() {
        List<Message> seen = collect(peer(), "jobs.*.progress");
        List<String> sent = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            String body = Integer.toString(i);
            sent.add(body);
            here().publish(Subjects.jobProgress("j" + i % 7), bytes(body));
        }
        Await.until("all thousand", () -> seen.size() == 1000);
        assertEquals(sent, seen.stream().map(message -> text(message.body())).toList());
    }

    @Test
    void aSlowHandlerDelaysOnlyItself() {
        needs(Capability.OWN_DELIVERY_THREADS);
        CountDownLatch release = new CountDownLatch(1);
        here().subscribe(MODELS, message -> Await.latch(release));
        List<Message> quick = collect(here(), MODELS);
        peer().publish(MODELS, bytes("x"));
        peer().publish(MODELS, bytes("x"));
        Await.until("the quick one has both", () -> quick.size() == 2);
        release.countDown();
    }

    @Test
    void whatAHandlerThrowsDoesNotEndItsSubscription() {
        AtomicInteger seen = new AtomicInteger();
        here().subscribe(MODELS, message -> {
            seen.incrementAndGet();
            throw new IllegalStateException("handler");
        });
        assertDoesNotThrow(() -> here().publish(MODELS, bytes("x")));
        here().publish(MODELS, bytes("x"));
        Await.until("both were delivered", () -> seen.get() == 2);
        assertTrue(rig().recorder().lines().stream().anyMatch(line -> line.contains("handler")));
    }

    @Test
    void drainHandsOverWhatHasArrived() {
        needs(Capability.OWN_DELIVERY_THREADS);
        CountDownLatch release = new CountDownLatch(1);
        AtomicInteger seen = new AtomicInteger();
        Subscription subscription = here().subscribe(MODELS, message -> {
            Await.latch(release);
            seen.incrementAndGet();
        });
        List<Message> arrived = collect(here(), MODELS);
        for (int i = 0; i < 50; i++) {
            here().publish(MODELS, bytes("x"));
        }
        here().flush(Duration.ofSeconds(5));
        Await.until("all arrived", () -> arrived.size() == 50);
        Thread drainer = Thread.ofVirtual().start(subscription::drain);
        release.countDown();
        Await.until("drained", () -> !drainer.isAlive());
        assertEquals(50, seen.get());
    }

    @Test
    void aHandlerMustNotEndItsOwnSubscription() {
        AtomicReference<Subscription> own = new AtomicReference<>();
        AtomicReference<Throwable> thrown = new AtomicReference<>();
        CountDownLatch known = new CountDownLatch(1);
        own.set(here().subscribe(MODELS, message -> {
            Await.latch(known);
            try {
                own.get().unsubscribe();
            } catch (IllegalStateException e) {
                thrown.set(e);
            }
        }));
        known.countDown();
        here().publish(MODELS, bytes("x"));
        Await.until("it is told so", () -> thrown.get() != null);
    }

    @Test
    void aFlushReturnsWhenTheTransportHasEverything() {
        here().publish(MODELS, bytes("x"));
        assertDoesNotThrow(() -> here().flush(Duration.ofSeconds(5)));
    }

    @Test
    void aBrokenLinkIsAbsenceAndItsReturnIsTold() {
        needs(Capability.LINK_CAN_BREAK);
        AtomicInteger returns = new AtomicInteger();
        List<Message> seen = collect(here(), MODELS);
        here().onReconnect(returns::incrementAndGet);
        rig().breakLink();
        Await.until("the link is down", () -> !rig().here().connected());
        try {
            here().publish(MODELS, bytes("lost or kept"));
        } catch (AbsentException allowed) {
            assertTrue(allowed.getMessage().length() > 0);
        }
        rig().restoreLink();
        Await.until("its return is told", () -> returns.get() == 1);
        seen.clear();
        peer().publish(MODELS, bytes("after"));
        Await.until(
                "the subscription stands again",
                () -> seen.stream().anyMatch(m -> text(m.body()).equals("after")));
    }
}
