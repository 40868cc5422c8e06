package org.nemorelay.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Loads a daemon and its worker for minutes and watches their memory. */
final class MemoryBench {
    private static final int LINES = 20;

    /** Resident sizes in MB, and how many exchanges there were until then. */
    private record Sample(double minutes, double daemon, double worker, long exchanges) {}

    private MemoryBench() {}

    static String run(int port, String header, long daemon, long worker, int minutes) {
        Load small = new Load(port, "/v1/messages", header);
        Load past = new Load(port, "/v1/messages", "");
        Load streamed = new Load(port, "/v1/chat/completions", header);
        Load large = new Load(port, "/v1/messages/count_tokens", header);
        Load slow = new Load(port, "/v1/responses", header);
        List<Sample> samples = new ArrayList<>();
        long exchanges = 0;
        long begin = System.nanoTime();
        for (double now = 0; now < minutes; now = (System.nanoTime() - begin) / (double) TimeUnit.MINUTES.toNanos(1)) {
            exchanges +=
                    small.exchanges(64, 4) + past.exchanges(64, 2) + streamed.exchanges(16, 3) + large.exchanges(8, 2);
            exchanges += slow.streams(200, 1, () -> {}).served();
            samples.add(new Sample(now, Memory.resident(daemon), Memory.resident(worker), exchanges));
        }
        return markdown(samples, minutes);
    }

    private static String markdown(List<Sample> samples, int minutes) {
        StringBuilder out = new StringBuilder("# Memory under load\n\n");
        out.append("Written by `integration-tests/bench/bench memory ").append(minutes);
        out.append("`; do not edit by hand.\n\nMachine: ");
        try {
            out.append(Report.machine());
        } catch (IOException e) {
            out.append("unknown");
        }
        out.append("\n\nOne daemon and one worker, ").append(minutes);
        out.append(
                " minutes of small requests, requests past the worker, streams, answers of 1 MiB and slow streams,\n");
        out.append(
                "in turns. Resident size in MB.\n\n| minute | exchanges until then | daemon | worker |\n|---:|---:|---:|---:|\n");
        int step = Math.max(1, samples.size() / LINES);
        for (int i = 0; i < samples.size(); i += step) {
            line(out, samples.get(i));
        }
        if ((samples.size() - 1) % step != 0) {
            line(out, samples.getLast());
        }
        Sample warm = samples.get(samples.size() / 3);
        Sample last = samples.getLast();
        out.append(String.format(
                Locale.ROOT,
                "%nFrom the end of the first third to the last minute: daemon %+.1f MB, worker %+.1f MB.%n",
                last.daemon() - warm.daemon(),
                last.worker() - warm.worker()));
        return out.toString();
    }

    private static void line(StringBuilder out, Sample sample) {
        out.append(String.format(
                Locale.ROOT,
                "| %.1f | %,d | %.1f | %.1f |%n",
                sample.minutes(),
                sample.exchanges(),
                sample.daemon(),
                sample.worker()));
    }
}
