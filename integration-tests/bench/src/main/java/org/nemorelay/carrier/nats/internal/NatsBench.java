package org.nemorelay.carrier.nats.internal;

import io.nats.client.Connection;
import io.nats.client.Nats;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.nemorelay.bench.Targets;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.carrier.ControlTimeouts;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.WorkRoutes;
import org.nemorelay.seams.control.ControlServer.Need;
import org.nemorelay.seams.control.ControlVerb;
import org.nemorelay.seams.control.Outcome;
import org.nemorelay.testkit.NatsServer;
import org.nemorelay.testkit.Recorder;

/** The NATS carrier beside the bare client library: the same bytes, the same server, in turns within one run. */
public final class NatsBench {
    private static final int ROUNDS = 9;
    private static final int WARM_UP = 3;
    private static final int MESSAGES = 100_000;
    private static final int CALLS = 5_000;
    private static final int CALLERS = 8;
    private static final byte[] BODY = new byte[200];
    private static final Duration BOUND = Duration.ofSeconds(10);

    /** What is measured, in events per second. */
    private interface Run {
        double rate() throws Exception;
    }

    private NatsBench() {}

    /** Rows of a Markdown table. */
    public static List<String> rows(Targets targets) throws Exception {
        try (NatsServer server = NatsServer.start()) {
            Connection from = Nats.connect(server.url());
            Connection to = Nats.connect(server.url());
            NatsCarrier here = carrier(server);
            NatsCarrier peer = carrier(server);
            while (!here.connected() || !peer.connected()) {
                LockSupport.parkNanos(1_000_000);
            }
            serveBare(to);
            peer.controlServer("n")
                    .handleWithProgress(
                            ControlVerb.BACKEND_LIST,
                            Need.MANDATORY,
                            (context, body, progress) -> new Outcome.Reply(body));
            peer.controlServer("m")
                    .handle(
                            ControlVerb.BACKEND_LIST,
                            Need.MANDATORY,
                            (context, body, progress) -> new Outcome.Reply(body));
            Bytes bare = body -> from.request("nodes.bare.backend.list", body, BOUND);
            Bytes ours = body -> here.exchange().request(Context.background(), "nodes.m.backend.list", body, BOUND);
            List<String> rows = new ArrayList<>();
            rows.add(row(
                    targets,
                    "fan-out, 200 bytes, messages/s",
                    0.85,
                    () -> bareFanOut(from, to),
                    () -> fanOut(here, peer)));
            rows.add(row(
                    targets, "request and reply, 1 caller, calls/s", 0.8, () -> calls(1, bare), () -> calls(1, ours)));
            rows.add(row(
                    targets,
                    "request and reply, " + CALLERS + " callers, calls/s",
                    0.8,
                    () -> calls(CALLERS, bare),
                    () -> calls(CALLERS, ours)));
            from.close();
            to.close();
            here.close();
            peer.close();
            return rows;
        }
    }

    private static NatsCarrier carrier(NatsServer server) {
        Recorder recorder = new Recorder();
        return new NatsCarrier(
                new Settings("bench", List.of(server.url()), true, new Credentials.None(), Optional.empty()),
                Optional.empty(),
                WorkRoutes.standard(),
                ControlTimeouts.standard(),
                recorder,
                new Faults(recorder, recorder));
    }

    private static void serveBare(Connection to) throws Exception {
        to.createDispatcher(message -> to.publish(message.getReplyTo(), message.getData()))
                .subscribe("nodes.bare.backend.list");
        to.flush(BOUND);
    }

    private static String row(Targets targets, String what, double target, Run bare, Run ours) throws Exception {
        double[] bares = new double[ROUNDS];
        double[] mine = new double[ROUNDS];
        double[] ratios = new double[ROUNDS];
        for (int i = -WARM_UP; i < ROUNDS; i++) {
            double one = bare.rate();
            double other = ours.rate();
            if (i >= 0) {
                bares[i] = one;
                mine[i] = other;
                ratios[i] = other / one;
            }
        }
        return String.format(
                Locale.ROOT,
                "| %s | %.0f | %.0f | %.2f | %s |",
                what,
                median(bares),
                median(mine),
                median(ratios),
                targets.atLeast(what + ", of bare jnats", median(ratios), target));
    }

    private static double median(double[] values) {
        Arrays.sort(values);
        return values[values.length / 2];
    }

    private static double bareFanOut(Connection from, Connection to) throws Exception {
        CountDownLatch all = new CountDownLatch(MESSAGES);
        var dispatcher = to.createDispatcher(message -> all.countDown());
        dispatcher.subscribe("jobs.bare.progress");
        to.flush(BOUND);
        long start = System.nanoTime();
        for (int i = 0; i < MESSAGES; i++) {
            from.publish("jobs.bare.progress", BODY);
        }
        all.await();
        long took = System.nanoTime() - start;
        to.closeDispatcher(dispatcher);
        return MESSAGES * 1e9 / took;
    }

    private static double fanOut(NatsCarrier here, NatsCarrier peer) throws Exception {
        CountDownLatch all = new CountDownLatch(MESSAGES);
        var subscription = peer.broadcaster().subscribe("jobs.ours.progress", message -> all.countDown());
        long start = System.nanoTime();
        for (int i = 0; i < MESSAGES; i++) {
            here.broadcaster().publish("jobs.ours.progress", BODY);
        }
        all.await();
        long took = System.nanoTime() - start;
        subscription.unsubscribe();
        return MESSAGES * 1e9 / took;
    }

    /** One call. */
    private interface Bytes {
        Object ask(byte[] body) throws Exception;
    }

    private static double calls(int callers, Bytes call) throws Exception {
        AtomicInteger left = new AtomicInteger(CALLS);
        CountDownLatch done = new CountDownLatch(callers);
        long start = System.nanoTime();
        for (int i = 0; i < callers; i++) {
            Thread.ofVirtual().start(() -> {
                try {
                    while (left.getAndDecrement() > 0) {
                        if (call.ask(BODY) == null) {
                            throw new IOException("no answer");
                        }
                    }
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                } finally {
                    done.countDown();
                }
            });
        }
        done.await();
        return CALLS * 1e9 / (System.nanoTime() - start);
    }
}
