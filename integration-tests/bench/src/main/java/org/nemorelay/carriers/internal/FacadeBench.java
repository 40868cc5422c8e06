package org.nemorelay.carriers.internal;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.nemorelay.bench.Targets;
import org.nemorelay.seams.Broadcaster;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.Message;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.Subscription;
import org.nemorelay.seams.WorkKind;
import org.nemorelay.seams.WorkQueue;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Exchange;
import org.nemorelay.seams.carrier.ExchangeCommandSender;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.Seam;
import org.nemorelay.seams.control.NodeCommandSender;
import org.nemorelay.testkit.Recorder;

/** What a call through a facade costs over the same call at a carrier that does nothing. */
public final class FacadeBench {
    private static final int CALLS = 500_000;
    private static final int ROUNDS = 15;
    private static final byte[] BODY = new byte[200];

    private FacadeBench() {}

    /** Rows of a Markdown table, in nanoseconds. */
    public static List<String> rows(Targets targets) {
        Recorder recorder = new Recorder();
        Faults faults = new Faults(recorder, recorder);
        Idle idle = new Idle(faults);
        Facades facades = new Facades(faults);
        Switch carriers = new Switch(facades, "idle", "none", faults);
        carriers.come(idle);
        while (carriers.status().current().isEmpty()) {
            Thread.onSpinWait();
        }
        Context context = Context.background();
        Message message = Message.of("jobs.bench.progress", BODY);
        List<String> rows = new ArrayList<>();
        rows.add(row(
                targets,
                "publish",
                () -> idle.broadcaster().publish(message),
                () -> facades.broadcaster().publish(message)));
        rows.add(row(
                targets,
                "enqueue",
                () -> idle.workQueue().enqueue(context, WorkKind.MCP_CI, BODY),
                () -> facades.workQueue().enqueue(context, WorkKind.MCP_CI, BODY)));
        rows.add(row(
                targets,
                "control call",
                () -> idle.commands().listBackends("n"),
                () -> facades.commands().listBackends("n")));
        carriers.close();
        facades.close();
        return rows;
    }

    private static String row(Targets targets, String what, Runnable bare, Runnable through) {
        double[] direct = new double[ROUNDS];
        double[] facade = new double[ROUNDS];
        double[] over = new double[ROUNDS];
        for (int i = -5; i < ROUNDS; i++) {
            double one = nanos(bare);
            double other = nanos(through);
            if (i >= 0) {
                direct[i] = one;
                facade[i] = other;
                over[i] = other - one;
            }
        }
        return String.format(
                Locale.ROOT,
                "| %s | %.0f | %.0f | %.0f | %s |",
                what,
                median(direct),
                median(facade),
                median(over),
                targets.atMost("a facade's " + what + ", ns more", median(over), 200));
    }

    private static double nanos(Runnable call) {
        long start = System.nanoTime();
        for (int i = 0; i < CALLS; i++) {
            call.run();
        }
        return (double) (System.nanoTime() - start) / CALLS;
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    /** Takes everything and does nothing with it. */
    private static final class Idle implements Carrier, Broadcaster, WorkQueue, Exchange {
        private static final byte[] ANSWER = "{\"backends\":[]}".getBytes(java.nio.charset.StandardCharsets.US_ASCII);

        private final LongAdder taken = new LongAdder();
        private final NodeCommandSender commands;

        private Idle(Faults faults) {
            commands = new ExchangeCommandSender(this, ControlTimeouts.standard(), faults);
        }

        @Override
        public String name() {
            return "idle";
        }

        @Override
        public Set<Seam> seams() {
            return Set.of(Seam.FAN_OUT, Seam.QUEUES, Seam.CONTROL);
        }

        @Override
        public boolean connected() {
            return true;
        }

        @Override
        public Broadcaster broadcaster() {
            return this;
        }

        @Override
        public WorkQueue workQueue() {
            return this;
        }

        @Override
        public NodeCommandSender commands() {
            return commands;
        }

        @Override
        public void publish(Message message) {
            taken.increment();
        }

        @Override
        public Subscription subscribe(String subject, Consumer<Message> handler) {
            throw new UnsupportedOperationException("the benchmark sends only");
        }

        @Override
        public Registration onReconnect(Runnable action) {
            return () -> {};
        }

        @Override
        public void flush(Duration bound) {}

        @Override
        public void enqueue(Context context, WorkKind kind, byte[] payload) {
            taken.increment();
        }

        @Override
        public byte[] request(Context context, String subject, byte[] body, Duration bound) {
            taken.increment();
            return ANSWER;
        }

        @Override
        public void post(String subject, byte[] body) {
            taken.increment();
        }

        @Override
        public Subscription listen(String subject, Consumer<byte[]> handler) {
            throw new UnsupportedOperationException("the benchmark sends only");
        }
    }
}
