package org.nemorelay.it.carriers;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.WorkConsumer;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.control.ControlHandler;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlServers;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.workerctl.BackendListReply;

/** What one process of a soak says, hears, enqueues, runs, asks and answers, and the counts of it. */
final class Traffic {
    private static final int CALLERS = 4;

    private final int index;
    private final int processes;
    private final Broadcaster broadcaster;
    private final WorkQueue queue;
    private final NodeCommandSender commands;
    private final List<Ear> ears = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final Queue<Long> accepted = new ConcurrentLinkedQueue<>();
    private final Queue<Long> ran = new ConcurrentLinkedQueue<>();
    private final AtomicInteger serialNow = new AtomicInteger();
    private final AtomicInteger serialPeak = new AtomicInteger();
    private final AtomicLong calls = new AtomicLong();
    private final Map<String, AtomicLong> typed = new ConcurrentHashMap<>();
    private final Queue<String> unexplained = new ConcurrentLinkedQueue<>();
    private volatile long published;
    private volatile boolean going;

    Traffic(
            int index,
            int processes,
            Broadcaster broadcaster,
            WorkQueue queue,
            WorkConsumer consumer,
            NodeCommandSender commands,
            ControlServers servers) {
        this.index = index;
        this.processes = processes;
        this.broadcaster = broadcaster;
        this.queue = queue;
        this.commands = commands;
        listen("jobs.*.progress");
        for (int i = 0; i < processes; i++) {
            listen(subject(i));
        }
        consumer.consume(Context.background(), WorkKind.MCP_CI, 1, (context, payload, events) -> {
            serialPeak.accumulateAndGet(serialNow.incrementAndGet(), Math::max);
            ran.add(number(payload));
            LockSupport.parkNanos(50_000);
            serialNow.decrementAndGet();
        });
        consumer.consume(
                Context.background(), WorkKind.AGENT_RUN, 0, (context, payload, events) -> ran.add(number(payload)));
        servers.controlServer("n" + index)
                .handle(
                        ControlVerb.BACKEND_LIST,
                        Need.MANDATORY,
                        ControlHandler.unary(context -> new BackendListReply(List.of(), "n" + index)));
    }

    private static String subject(int process) {
        return "jobs.p" + process + ".progress";
    }

    private static byte[] body(long number) {
        return ("{\"n\":" + number + "}").getBytes(StandardCharsets.UTF_8);
    }

    private static long number(byte[] body) {
        String text = new String(body, StandardCharsets.UTF_8);
        return Long.parseLong(text.substring(5, text.length() - 1));
    }

    /** One subscription and what it heard of each publisher. */
    private static final class Ear {
        private final AtomicLong[] last;
        private final AtomicLong missing = new AtomicLong();
        private final AtomicLong doubled = new AtomicLong();
        private final AtomicLong wrong = new AtomicLong();
        private final boolean[] warm;

        private Ear(int processes) {
            last = new AtomicLong[processes];
            Arrays.setAll(last, i -> new AtomicLong());
            warm = new boolean[processes];
        }

        private void hear(Message message) {
            int publisher = message.subject().charAt("jobs.p".length()) - '0';
            long number = number(message.body());
            if (!Arrays.equals(message.body(), body(number))
                    || !message.headers().isEmpty()) {
                wrong.incrementAndGet();
            }
            if (number == 0) {
                warm[publisher] = true;
                return;
            }
            long before = last[publisher].get();
            if (number <= before) {
                doubled.incrementAndGet();
                return;
            }
            missing.addAndGet(number - before - 1);
            last[publisher].set(number);
        }
    }

    private void listen(String subject) {
        Ear ear = new Ear(processes);
        ears.add(ear);
        broadcaster.subscribe(subject, ear::hear);
    }

    /** Says something until everybody hears everybody and answers; false when not within {@code bound}. */
    boolean warm(Duration bound) {
        long end = System.nanoTime() + bound.toNanos();
        while (System.nanoTime() - end < 0) {
            try {
                broadcaster.publish(subject(index), body(0));
                boolean heard = true;
                for (int i = 0; i < processes; i++) {
                    heard &= ears.getFirst().warm[i] && ears.get(i + 1).warm[i];
                    commands.listBackends("n" + i);
                }
                if (heard) {
                    return true;
                }
            } catch (SeamException e) {
                // Somebody is not there yet.
            }
            LockSupport.parkNanos(5_000_000);
        }
        return false;
    }

    /** Waits until every node answers and everybody is heard on every subscription again. */
    boolean whole(Duration bound) {
        long end = System.nanoTime() + bound.toNanos();
        long[][] before = ears.stream()
                .map(ear -> Arrays.stream(ear.last).mapToLong(AtomicLong::get).toArray())
                .toArray(long[][]::new);
        long jobs = ran.size();
        while (System.nanoTime() - end < 0) {
            boolean all = ran.size() > jobs;
            for (int i = 0; i < processes; i++) {
                all &= ears.getFirst().last[i].get() > before[0][i];
                all &= ears.get(i + 1).last[i].get() > before[i + 1][i];
            }
            if (all && answered()) {
                return true;
            }
            LockSupport.parkNanos(5_000_000);
        }
        return false;
    }

    private boolean answered() {
        try {
            for (int i = 0; i < processes; i++) {
                commands.listBackends("n" + i);
            }
            return true;
        } catch (SeamException e) {
            return false;
        }
    }

    void go(long pauseNanos) {
        going = true;
        threads.add(Thread.ofVirtual().start(() -> publish(pauseNanos)));
        threads.add(Thread.ofVirtual().start(() -> enqueue(pauseNanos * 3)));
        for (int i = 0; i < CALLERS; i++) {
            threads.add(Thread.ofVirtual().start(() -> call(pauseNanos * 4)));
        }
    }

    private void publish(long pause) {
        while (going) {
            attempt("publish", () -> {
                broadcaster.publish(subject(index), body(published + 1));
                published++;
            });
            LockSupport.parkNanos(pause);
        }
    }

    private void enqueue(long pause) {
        AtomicLong next = new AtomicLong(index * 1_000_000_000L);
        while (going) {
            attempt("enqueue", () -> {
                long job = next.incrementAndGet();
                queue.enqueue(Context.background(), job % 2 == 0 ? WorkKind.MCP_CI : WorkKind.AGENT_RUN, body(job));
                accepted.add(job);
            });
            LockSupport.parkNanos(pause);
        }
    }

    private void call(long pause) {
        while (going) {
            String node = "n" + ThreadLocalRandom.current().nextInt(processes);
            attempt("call", () -> {
                String answer = commands.listBackends(node).error();
                if (!answer.equals(node)) {
                    unexplained.add(node + " answered as " + answer);
                }
                calls.incrementAndGet();
            });
            LockSupport.parkNanos(pause);
        }
    }

    private void attempt(String what, Runnable action) {
        try {
            action.run();
        } catch (SeamException e) {
            typed.computeIfAbsent(what + " " + e.getClass().getSimpleName(), key -> new AtomicLong())
                    .incrementAndGet();
        } catch (RuntimeException e) {
            unexplained.add(what + " " + e);
        }
    }

    long calls() {
        return calls.get();
    }

    void stop() throws InterruptedException {
        going = false;
        for (Thread thread : threads) {
            thread.join();
        }
    }

    long published() {
        return published;
    }

    /** Waits until every ear has heard that much of each publisher, or nothing comes any more. */
    void awaitHeard(long[] expected, Duration quiet) {
        long[] before = {-1};
        long since = System.nanoTime();
        while (!heard(expected)) {
            long now = ears.stream()
                    .flatMap(ear -> Arrays.stream(ear.last))
                    .mapToLong(AtomicLong::get)
                    .sum();
            if (now != before[0]) {
                before[0] = now;
                since = System.nanoTime();
            } else if (System.nanoTime() - since > quiet.toNanos()) {
                return;
            }
            LockSupport.parkNanos(5_000_000);
        }
    }

    private boolean heard(long[] expected) {
        for (int i = 0; i < processes; i++) {
            if (ears.getFirst().last[i].get() < expected[i]
                    || ears.get(i + 1).last[i].get() < expected[i]) {
                return false;
            }
        }
        return true;
    }

    List<Long> accepted() {
        return List.copyOf(accepted);
    }

    List<Long> ran() {
        return List.copyOf(ran);
    }

    /** The counts, with what is missing at the end of each stream. */
    Map<String, Object> counts(long[] expected) {
        long missing = 0;
        long doubled = 0;
        long wrong = 0;
        for (int e = 0; e < ears.size(); e++) {
            Ear ear = ears.get(e);
            missing += ear.missing.get();
            doubled += ear.doubled.get();
            wrong += ear.wrong.get();
            for (int i = 0; i < processes; i++) {
                if (e == 0 || e == i + 1) {
                    missing += expected[i] - ear.last[i].get();
                }
            }
        }
        Map<String, Object> counts = new TreeMap<>();
        counts.put("published", published);
        counts.put("missing", missing);
        counts.put("doubled", doubled);
        counts.put("wrong", wrong);
        counts.put("serial_peak", serialPeak.get());
        counts.put("calls", calls.get());
        counts.put("unexplained", unexplained.size());
        typed.forEach((what, count) -> counts.put("typed " + what, count.get()));
        if (!unexplained.isEmpty()) {
            counts.put("first", unexplained.peek());
        }
        return counts;
    }
}
