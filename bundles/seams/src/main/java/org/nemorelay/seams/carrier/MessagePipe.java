package org.nemorelay.seams.carrier;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.Queue;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.TimedOutException;

/** One way of a call: a few messages, then an end or a failure. */
final class MessagePipe {
    private static final int CAPACITY = 16;

    private final String what;
    private final Context context;
    private final Queue<byte[]> messages = new ArrayDeque<>();
    private Optional<SeamException> failure = Optional.empty();
    private boolean ended;

    MessagePipe(String what, Context context) {
        this.what = what;
        this.context = context;
    }

    /** Waits for room; false when the reader has finished in order and wants no more, its failure when it has not. */
    synchronized boolean send(byte[] message) {
        while (messages.size() >= CAPACITY && !ended) {
            await();
        }
        if (ended) {
            if (failure.isPresent()) {
                throw failure.get();
            }
            return false;
        }
        messages.add(message);
        notifyAll();
        return true;
    }

    synchronized Optional<byte[]> next() {
        while (messages.isEmpty() && !ended) {
            await();
        }
        if (messages.isEmpty()) {
            if (failure.isPresent()) {
                throw failure.get();
            }
            return Optional.empty();
        }
        byte[] message = messages.remove();
        notifyAll();
        return Optional.of(message);
    }

    /** The orderly end: what is there can still be read. */
    synchronized void end() {
        ended = true;
        notifyAll();
    }

    /** The failure comes after what is there; the first end counts. */
    synchronized void fail(SeamException cause) {
        if (!ended) {
            failure = Optional.of(cause);
            end();
        }
    }

    private void await() {
        Optional<Duration> left = context.remaining();
        try {
            if (left.isEmpty()) {
                wait();
            } else if (left.get().isPositive()) {
                wait(left.get().toMillis() + 1);
            } else {
                throw new TimedOutException(what + ": no answer within the deadline");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancelledException(what + ": interrupted");
        }
    }
}
