package org.nemorelay.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/**
 * What the workers of one daemon have measured that differ in their plugins alone, two of them in nothing. They are asked in
 * short turns, in orders of chance, forward and back, so that what the machine does meanwhile hits all of them alike.
 *
 * @param p50s of requests, in microseconds
 * @param streams until a long stream is read, in milliseconds
 * @param times of the workers' processes, by request
 */
record PluginGroup(Rounds p50s, Rounds streams, Map<PluginWay, Times> times) {
    static final int ROUNDS = 45;
    /** So many that the compiler has come to rest, of the plugins' code too. */
    static final int WARM_UP = 40_000;
    /** Requests of a turn that count, and those before them, which are slower. */
    static final int TURN = 400;

    static final int LEAD = 100;
    /** Before a turn: the record of the turn before is written meanwhile, and is no burden to the next. */
    static final int PAUSE_MILLIS = 25;

    static final int WARM_STREAMS = 150;

    private static final int WARM_TURN = 1_000;
    private static final List<PluginWay> ASKED =
            List.of(PluginWay.NONE, PluginWay.OBSERVER, PluginWay.HEADERS, PluginWay.NONE_AGAIN);
    private static final List<PluginWay> STREAMED = List.of(PluginWay.NONE, PluginWay.STREAM, PluginWay.NONE_AGAIN);

    /** A figure of each round. */
    record Rounds(Map<PluginWay, double[]> figures) {
        /** Neighbours: without a plugin, which is the mean of the two that are, and this way. */
        List<Ratio.Pair> beside(PluginWay way) {
            return pairs(without(), figures.get(way));
        }

        /** Neighbours that differ in nothing. */
        List<Ratio.Pair> byChance() {
            return pairs(figures.get(PluginWay.NONE), figures.get(PluginWay.NONE_AGAIN));
        }

        double[] without() {
            double[] mean = new double[figures.get(PluginWay.NONE).length];
            Arrays.setAll(
                    mean, round -> (figures.get(PluginWay.NONE)[round] + figures.get(PluginWay.NONE_AGAIN)[round]) / 2);
            return mean;
        }

        private static List<Ratio.Pair> pairs(double[] base, double[] other) {
            List<Ratio.Pair> pairs = new ArrayList<>();
            for (int round = 0; round < base.length; round++) {
                pairs.add(new Ratio.Pair(base[round], other[round]));
            }
            return pairs;
        }
    }

    /**
     * Microseconds of processor time that a request took in a worker, the compiler's left out.
     *
     * @param record the part of the threads that make events and hand them to plugins
     */
    record Times(double all, double record) {
        private static Times of(ThreadTimes before, ThreadTimes after, int requests) {
            return new Times(
                    after.microsSince(before, name -> !name.startsWith("C1 ") && !name.startsWith("C2 ")) / requests,
                    after.microsSince(before, name -> name.equals("observation") || name.startsWith("plugin-"))
                            / requests);
        }
    }

    /**
     * Starts the processes, measures and ends them.
     *
     * @param order for who starts and who is asked after whom
     */
    static PluginGroup measured(Path folder, LeanProvider lean, LongStreams streams, Random order) throws IOException {
        Files.createDirectories(folder);
        String toml = "[upstream]\nanthropic_base_url = \"" + lean.origin() + "\"\nopenai_base_url = \""
                + streams.origin() + "/v1\"\n";
        Path tree = Distribution.privateTree(folder.resolve("daemon"), toml, "version = 1\n");
        User user = User.self(folder.resolve("home"));
        Map<PluginWay, PluginWorker> workers = new EnumMap<>(PluginWay.class);
        try (Relay relay = Relay.start(user, tree.resolve("bin/nemo-relay"), Proc.spec())) {
            try {
                for (PluginWay way : shuffled(List.of(PluginWay.values()), order)) {
                    workers.put(way, way.start(relay, folder, toml));
                }
                return measured(workers, order);
            } finally {
                workers.values().forEach(PluginWorker::close);
            }
        }
    }

    private static PluginGroup measured(Map<PluginWay, PluginWorker> workers, Random order) {
        for (int done = 0; done < WARM_UP; done += WARM_TURN) {
            ASKED.forEach(way -> workers.get(way).latencies(WARM_TURN));
        }
        Map<PluginWay, ThreadTimes> before = new EnumMap<>(PluginWay.class);
        ASKED.forEach(way -> before.put(way, workers.get(way).threads()));
        Rounds p50s = inTurns(ASKED, order, way -> {
            double[] all = workers.get(way).latencies(LEAD + TURN);
            return Arrays.copyOfRange(all, LEAD, all.length);
        });
        Map<PluginWay, Times> times = new EnumMap<>(PluginWay.class);
        ASKED.forEach(way ->
                times.put(way, Times.of(before.get(way), workers.get(way).threads(), ROUNDS * 2 * (LEAD + TURN))));
        for (int done = 0; done < WARM_STREAMS; done++) {
            STREAMED.forEach(way -> workers.get(way).streamMillis());
        }
        return new PluginGroup(
                p50s,
                inTurns(STREAMED, order, way -> new double[] {workers.get(way).streamMillis()}),
                times);
    }

    private static Rounds inTurns(List<PluginWay> ways, Random random, Function<PluginWay, double[]> turn) {
        Map<PluginWay, double[]> medians = new EnumMap<>(PluginWay.class);
        ways.forEach(way -> medians.put(way, new double[ROUNDS]));
        for (int round = 0; round < ROUNDS; round++) {
            List<PluginWay> order = shuffled(ways, random);
            Map<PluginWay, double[]> forward = new EnumMap<>(PluginWay.class);
            order.forEach(way -> forward.put(way, paused(turn, way)));
            for (PluginWay way : order.reversed()) {
                double[] back = paused(turn, way);
                double[] both = Arrays.copyOf(forward.get(way), 2 * back.length);
                System.arraycopy(back, 0, both, back.length, back.length);
                medians.get(way)[round] = Ratio.median(both);
            }
        }
        return new Rounds(medians);
    }

    private static List<PluginWay> shuffled(List<PluginWay> ways, Random random) {
        List<PluginWay> order = new ArrayList<>(ways);
        Collections.shuffle(order, random);
        return order;
    }

    private static double[] paused(Function<PluginWay, double[]> turn, PluginWay way) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS));
        return turn.apply(way);
    }
}
