package org.nemorelay.carriers.internal;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.carrier.Carrier;

/**
 * Whether what is sent on one carrier comes to those who listen on another. Two servers of one network tell each other who
 * listens in the order in which it came about, so once a message has passed, everything that stood before is known too: then
 * the old end can be left without a gap in which the others' messages go nowhere.
 */
final class Passage {
    private static final Duration AGAIN = Duration.ofMillis(2);

    private Passage() {}

    /** True once a message passed, and where none can: on separate networks, or without permission to try. */
    static boolean await(Carrier from, Carrier to, Duration bound) {
        if (from.network().isEmpty() || !from.network().equals(to.network())) {
            return true;
        }
        String subject = Subjects.stateDelta("carrier-switch-" + UUID.randomUUID());
        CountDownLatch passed = new CountDownLatch(1);
        try {
            Subscription ear = to.broadcaster().subscribe(subject, message -> passed.countDown());
            try {
                long end = System.nanoTime() + bound.toNanos();
                while (System.nanoTime() - end < 0) {
                    from.broadcaster().publish(subject, new byte[0]);
                    if (passed.await(AGAIN.toNanos(), TimeUnit.NANOSECONDS)) {
                        return true;
                    }
                }
                return false;
            } finally {
                ear.unsubscribe();
            }
        } catch (SeamException e) {
            return true;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
