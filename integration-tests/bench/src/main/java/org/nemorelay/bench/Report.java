package org.nemorelay.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;

/** {@code docs/performance.md}: the figures with method and machine. */
final class Report {
    private static final String PASS = ", pass-through";
    private static final String WORKER = ", through the worker";

    private static final BiFunction<String, Double, String> NO_TARGET = (figure, value) -> "";

    /** What the product set out to reach (milliseconds and MB). */
    private static final Map<String, Double> TARGETS = Map.of(
            "daemon ready, ms", 700.0,
            "daemon idle, MB", 110.0,
            "hook peak, MB", 45.0,
            "MCP to initialize without credential, ms", 100.0,
            "MCP to initialize with credential, ms", 250.0,
            "MCP idle, MB", 55.0,
            "MCP to worker ready, ms", 1200.0,
            "worker idle, MB", 120.0);

    /**
     * All figures of one run.
     *
     * @param nothing milliseconds of a {@code java} that does nothing
     * @param ours start figures
     * @param other start figures of the second implementation, empty where none was measured
     * @param ways request figures by way
     * @param slow what a thousand slow streams cost, by implementation
     */
    record Figures(
            double nothing,
            Map<String, Double> ours,
            Map<String, Double> other,
            Map<String, Map<String, Double>> ways,
            Map<String, Map<String, Double>> slow) {}

    private Report() {}

    static String markdown(Figures figures, Targets targets) throws IOException {
        StringBuilder out = new StringBuilder();
        out.append("# Performance\n\n");
        out.append("Written by `integration-tests/bench/bench`; do not edit by hand. What holds each figure is in\n");
        out.append("[performance-notes.md](performance-notes.md).\n\n");
        out.append("Machine: ").append(machine()).append("\n\n");
        out.append(
                "Method: whole processes, spawned by one JVM, output read through pipes; medians after warm-up; memory is\n");
        out.append(
                "resident size from `/proc`. The other implementation (the stock binary, unless the run named another)\n");
        out.append(
                "was measured in the same run, on the same machine, with the load generator and the provider beside it, each of\n");
        out.append(
                "one thread. Request figures come after 20,000 requests on one connection and 5 seconds on 64, which both\n");
        out.append("implementations get alike; the first 100 requests of a fresh process stand beside them.\n");
        start(figures, targets, out);
        requests(figures.ways(), out);
        if (figures.ways().containsKey("other" + WORKER)) {
            ratios(figures.ways(), targets, out);
        }
        slow(figures.slow(), targets, out);
        return out.toString();
    }

    private static void start(Figures figures, Targets targets, StringBuilder out) {
        out.append("\n## Start and memory\n\n");
        out.append("| figure | ours | target | other | ours / other |\n|---|---:|---:|---:|---:|\n");
        figures.ours().forEach((name, value) -> {
            Double other = figures.other().get(name);
            out.append("| ").append(name).append(" | ").append(number(value)).append(" | ");
            out.append(target(name, value, figures.nothing(), targets)).append(" | ");
            out.append(other == null ? "not measured" : number(other)).append(" | ");
            out.append(other == null ? "" : number(value / other)).append(" |\n");
        });
        out.append("\nA `java` of the development kit that does nothing: ").append(number(figures.nothing()));
        out.append(" ms; the hook takes ").append(number(figures.ours().get("hook, ms") / figures.nothing()));
        out.append(" times that.\n");
    }

    private static void requests(Map<String, Map<String, Double>> ways, StringBuilder out) {
        out.append("\n## Requests\n\n| figure |");
        ways.keySet().forEach(way -> out.append(' ').append(way).append(" |"));
        out.append("\n|---|").append("---:|".repeat(ways.size())).append('\n');
        for (String name : ways.get("direct").keySet()) {
            out.append("| ").append(name).append(" |");
            ways.values()
                    .forEach(
                            way -> out.append(' ').append(number(way.get(name))).append(" |"));
            out.append('\n');
        }
    }

    private static void ratios(Map<String, Map<String, Double>> ways, Targets targets, StringBuilder out) {
        out.append("\n## Ratios to the other implementation\n\n");
        out.append("Added time is the figure less that of the direct way.\n\n");
        out.append("| figure | pass-through | target | through the worker | target |\n|---|---:|---:|---:|---:|\n");
        added(ways, out, "p50, us", atMost(targets, 1), atMost(targets, 0.6));
        added(ways, out, "p99, us", atMost(targets, 1), atMost(targets, 0.9));
        ratio(ways, out, "requests/s at 64 connections", atLeast(targets, 0.95), atLeast(targets, 2.5));
        ratio(ways, out, "CPU per request, us", NO_TARGET, atMost(targets, 0.5));
        ratio(ways, out, "streams of 128 events/s, 16 at once", atLeast(targets, 0.95), atLeast(targets, 3));
        ratio(ways, out, "answers of 1 MiB/s, 8 at once", NO_TARGET, atLeast(targets, 1.2));
    }

    private static BiFunction<String, Double, String> atMost(Targets targets, double limit) {
        return (figure, ratio) -> targets.atMost(figure, ratio, limit);
    }

    private static BiFunction<String, Double, String> atLeast(Targets targets, double limit) {
        return (figure, ratio) -> targets.atLeast(figure, ratio, limit);
    }

    private static void slow(Map<String, Map<String, Double>> slow, Targets targets, StringBuilder out) {
        out.append("\n## A thousand slow streams\n\n");
        out.append(
                "One event a second each, all through one worker that has served the requests above; memory is what the\n");
        out.append(
                "resident size of a process grew by. At most 32 KiB each in either process, and none may stall.\n\n");
        out.append("| figure | target |");
        slow.keySet().forEach(name -> out.append(' ').append(name).append(" |"));
        out.append("\n|---|---:|").append("---:|".repeat(slow.size())).append('\n');
        for (Map.Entry<String, Double> ours : slow.get("ours").entrySet()) {
            String name = ours.getKey();
            out.append("| ").append(name).append(" | ");
            out.append(slowTarget(name, ours.getValue(), targets)).append(" |");
            slow.values()
                    .forEach(figures -> out.append(' ')
                            .append(figures.containsKey(name) ? number(figures.get(name)) : "none open")
                            .append(" |"));
            out.append('\n');
        }
    }

    private static String slowTarget(String name, double value, Targets targets) {
        String figure = "slow streams, " + name;
        if (name.startsWith("KiB each")) {
            return targets.atMost(figure, value, 32);
        }
        if (name.startsWith("of 1,000")) {
            return targets.atLeast(figure, value, 1_000);
        }
        // Each has an event a second.
        return name.startsWith("longest silence") ? targets.atMost(figure, value, 3) : "";
    }

    private static void added(
            Map<String, Map<String, Double>> ways,
            StringBuilder out,
            String name,
            BiFunction<String, Double, String> pass,
            BiFunction<String, Double, String> worker) {
        double direct = ways.get("direct").get(name);
        row(
                out,
                "added time, " + name,
                (ways.get("ours" + PASS).get(name) - direct)
                        / (ways.get("other" + PASS).get(name) - direct),
                pass,
                (ways.get("ours" + WORKER).get(name) - direct)
                        / (ways.get("other" + WORKER).get(name) - direct),
                worker);
    }

    private static void ratio(
            Map<String, Map<String, Double>> ways,
            StringBuilder out,
            String name,
            BiFunction<String, Double, String> pass,
            BiFunction<String, Double, String> worker) {
        row(
                out,
                name,
                ways.get("ours" + PASS).get(name) / ways.get("other" + PASS).get(name),
                pass,
                ways.get("ours" + WORKER).get(name) / ways.get("other" + WORKER).get(name),
                worker);
    }

    private static void row(
            StringBuilder out,
            String name,
            double pass,
            BiFunction<String, Double, String> passTarget,
            double worker,
            BiFunction<String, Double, String> workerTarget) {
        out.append("| ")
                .append(name)
                .append(" | ")
                .append(ratioText(pass))
                .append(" | ")
                .append(passTarget.apply(name + PASS, pass));
        out.append(" | ")
                .append(ratioText(worker))
                .append(" | ")
                .append(workerTarget.apply(name + WORKER, worker))
                .append(" |\n");
    }

    private static String ratioText(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    private static String target(String name, double value, double nothing, Targets targets) {
        if (name.equals("hook, ms")) {
            return "2 × nothing: " + targets.atMost(name, value, 2 * nothing);
        }
        return TARGETS.containsKey(name) ? targets.atMost(name, value, TARGETS.get(name)) : "";
    }

    private static String number(double value) {
        return value < 100 ? String.format(Locale.ROOT, "%.1f", value) : String.format(Locale.ROOT, "%,.0f", value);
    }

    static String machine() throws IOException {
        String model = Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                .filter(line -> line.startsWith("model name"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse("unknown processor");
        return Runtime.getRuntime().availableProcessors() + " cores, " + model + ", " + System.getProperty("os.name")
                + " " + System.getProperty("os.version") + ", Java " + Runtime.version();
    }
}
