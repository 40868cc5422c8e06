package org.nemorelay.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a request costs on its way: one connection, many, streams, large bodies. */
final class RequestBench {
    private static final int WARM_UP = 20_000;
    private static final int REQUESTS = 10_000;
    private static final int CONNECTIONS = 64;
    private static final int STREAMS = 16;
    private static final int LARGE = 8;
    private static final int SLOW_STREAMS = 1_000;
    private static final double SLOW_SECONDS = 8;
    private static final double WARM_SECONDS = 5;
    private static final double SHORT_WARM_SECONDS = 3;
    private static final double SECONDS = 4;
    private static final double TICKS_PER_SECOND = 100;

    private RequestBench() {}

    /**
     * Figures of one way.
     *
     * @param header the credential's line with its end, or empty
     * @param processes whose processor time counts
     */
    static Map<String, Double> run(int port, String header, List<Long> processes) {
        Map<String, Double> figures = new LinkedHashMap<>();
        Load small = new Load(port, "/v1/messages", header);
        figures.put("p50 of the first 100 requests, us", percentile(small.latencies(100), 50));
        small.latencies(WARM_UP);
        small.exchanges(CONNECTIONS, WARM_SECONDS);
        double[] micros = small.latencies(REQUESTS);
        figures.put("p50, us", percentile(micros, 50));
        figures.put("p99, us", percentile(micros, 99));
        double before = cpuMicros(processes);
        long done = small.exchanges(CONNECTIONS, SECONDS);
        figures.put("requests/s at 64 connections", done / SECONDS);
        figures.put("CPU per request, us", (cpuMicros(processes) - before) / done);
        Load streams = new Load(port, "/v1/chat/completions", header);
        streams.exchanges(STREAMS, SHORT_WARM_SECONDS);
        figures.put("streams of 128 events/s, 16 at once", streams.exchanges(STREAMS, SECONDS) / SECONDS);
        Load large = new Load(port, "/v1/messages/count_tokens", header);
        large.exchanges(LARGE, SHORT_WARM_SECONDS);
        figures.put("answers of 1 MiB/s, 8 at once", large.exchanges(LARGE, SECONDS) / SECONDS);
        return figures;
    }

    /**
     * A thousand streams of one event a second, open at once through a worker that has served before: what each costs
     * either process, and whether one of them is forgotten.
     */
    static Map<String, Double> slowStreams(int port, String header, long daemon, long worker) {
        Map<String, Double> figures = new LinkedHashMap<>();
        double daemonBefore = Memory.resident(daemon);
        double workerBefore = Memory.resident(worker);
        Load.Streams streams = new Load(port, "/v1/responses", header).streams(SLOW_STREAMS, SLOW_SECONDS, () -> {
            figures.put("KiB each in the daemon", (Memory.resident(daemon) - daemonBefore) * 1024 / SLOW_STREAMS);
            figures.put("KiB each in the worker", (Memory.resident(worker) - workerBefore) * 1024 / SLOW_STREAMS);
        });
        figures.put("of 1,000 came to their end", (double) streams.served());
        figures.put("longest silence of one, s", streams.longestSilenceMs() / 1e3);
        return figures;
    }

    private static double percentile(double[] values, int percent) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[Math.min(sorted.length - 1, sorted.length * percent / 100)];
    }

    private static double cpuMicros(List<Long> processes) {
        double ticks = 0;
        for (long pid : processes) {
            try {
                String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
                String[] columns = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
                ticks += Double.parseDouble(columns[11]) + Double.parseDouble(columns[12]);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return ticks / TICKS_PER_SECOND * 1e6;
    }
}
