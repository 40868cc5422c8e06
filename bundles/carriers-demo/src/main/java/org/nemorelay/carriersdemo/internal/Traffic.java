package org.nemorelay.carriersdemo.internal;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.Subjects;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlServers;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.workerctl.BackendListReply;

/** Four threads that use the seams without a pause, and what came of all they did. */
final class Traffic implements AutoCloseable {
    private static final String NODE = "demo";
    private static final int PUBLISHERS = 2;
    private static final long BREATH_NANOS = 100_000;
    private static final Duration LAST = Duration.ofSeconds(15);

    /** @param missing published to a live subscriber and not heard; {@code doubled} counts what came out of order too */
    record Counts(
            long published,
            long missing,
            long doubled,
            long jobsAccepted,
            long jobsRun,
            long jobsFailed,
            long jobsDoubled,
            long calls,
            long callsTypedFailures,
            long callsUnexplained) {
        boolean flawless() {
            return missing == 0
                    && doubled == 0
                    && jobsFailed == 0
                    && jobsDoubled == 0
                    && jobsRun == jobsAccepted
                    && callsUnexplained == 0;
        }
    }

    private final AtomicInteger[] published = new AtomicInteger[PUBLISHERS];
    private final AtomicInteger[] heard = new AtomicInteger[PUBLISHERS];
    private final AtomicLong missing = new AtomicLong();
    private final AtomicLong doubled = new AtomicLong();
    private final AtomicInteger accepted = new AtomicInteger();
    private final BitSet ran = new BitSet();
    private final AtomicLong jobsDoubled = new AtomicLong();
    private final AtomicLong calls = new AtomicLong();
    private final AtomicLong typed = new AtomicLong();
    private final AtomicLong unexplained = new AtomicLong();
    private final List<Subscription> standing = new ArrayList<>();
    private final ControlServer server;
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean going = true;

    Traffic(
            Broadcaster events,
            WorkQueue queue,
            WorkConsumer consumer,
            ControlServers servers,
            NodeCommandSender commands) {
        for (int i = 0; i < PUBLISHERS; i++) {
            published[i] = new AtomicInteger();
            heard[i] = new AtomicInteger();
            int publisher = i;
            standing.add(events.subscribe(Subjects.jobProgress("demo" + i), message -> heard(publisher, message)));
        }
        standing.add(
                consumer.consume(Context.background(), WorkKind.MCP_CI, 1, (context, payload, own) -> ran(payload)));
        server = servers.controlServer(NODE);
        server.handle(
                ControlVerb.BACKEND_LIST,
                Need.MANDATORY,
                ControlHandler.unary(context -> new BackendListReply(List.of(), "")));
        for (int i = 0; i < PUBLISHERS; i++) {
            int publisher = i;
            start(
                    "publisher",
                    () -> send(
                            () -> events.publish(
                                    Subjects.jobProgress("demo" + publisher), body(published[publisher].get() + 1)),
                            published[publisher]));
        }
        start(
                "jobs",
                () -> send(() -> queue.enqueue(Context.background(), WorkKind.MCP_CI, body(accepted.get())), accepted));
        start("calls", () -> call(() -> commands.listBackends(NODE)));
    }

    private void start(String name, Runnable once) {
        threads.add(Thread.ofPlatform().daemon().name("demo " + name).start(() -> {
            while (going) {
                once.run();
                LockSupport.parkNanos(BREATH_NANOS);
            }
        }));
    }

    /** What is refused was not accepted, and the same number is sent again. */
    private static void send(Runnable sending, AtomicInteger accepted) {
        try {
            sending.run();
            accepted.incrementAndGet();
        } catch (SeamException e) {
            // Not accepted.
        }
    }

    private void call(Runnable call) {
        calls.incrementAndGet();
        try {
            call.run();
        } catch (SeamException e) {
            typed.incrementAndGet();
        } catch (RuntimeException e) {
            unexplained.incrementAndGet();
        }
    }

    private void heard(int publisher, Message message) {
        int number = number(message.body());
        int before = heard[publisher].get();
        if (number <= before) {
            doubled.incrementAndGet();
        } else {
            missing.addAndGet(number - before - 1);
            heard[publisher].set(number);
        }
    }

    private synchronized void ran(byte[] payload) {
        int number = number(payload);
        if (ran.get(number)) {
            jobsDoubled.incrementAndGet();
        }
        ran.set(number);
    }

    private synchronized int jobsRun() {
        return ran.cardinality();
    }

    private static byte[] body(int number) {
        return ByteBuffer.allocate(Integer.BYTES).putInt(number).array();
    }

    private static int number(byte[] body) {
        return ByteBuffer.wrap(body).getInt();
    }

    long messages() {
        long sum = 0;
        for (AtomicInteger each : published) {
            sum += each.get();
        }
        return sum;
    }

    int jobs() {
        return accepted.get();
    }

    long calls() {
        return calls.get();
    }

    /** Stops the threads and waits for what is on its way. */
    Counts end() throws InterruptedException {
        going = false;
        for (Thread thread : threads) {
            thread.join();
        }
        long end = System.nanoTime() + LAST.toNanos();
        while (!all() && System.nanoTime() - end < 0) {
            Thread.sleep(10);
        }
        long lost = missing.get();
        for (int i = 0; i < PUBLISHERS; i++) {
            lost += Math.max(0, published[i].get() - heard[i].get());
        }
        return new Counts(
                messages(),
                lost,
                doubled.get(),
                accepted.get(),
                jobsRun(),
                accepted.get() - jobsRun(),
                jobsDoubled.get(),
                calls.get(),
                typed.get(),
                unexplained.get());
    }

    private boolean all() {
        for (int i = 0; i < PUBLISHERS; i++) {
            if (heard[i].get() < published[i].get()) {
                return false;
            }
        }
        return jobsRun() == accepted.get();
    }

    @Override
    public void close() {
        going = false;
        standing.forEach(Subscription::unsubscribe);
        server.close();
    }
}
