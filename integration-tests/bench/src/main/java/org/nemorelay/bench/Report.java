package org.nemorelay.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** {@code docs/performance.md}: the figures with method and machine. */
final class Report {
    private static final String PASS = ", pass-through";
    private static final String WORKER = ", through the worker";

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

    static String markdown(Figures figures) throws IOException {
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
        start(figures, out);
        requests(figures.ways(), out);
        if (figures.ways().containsKey("other" + WORKER)) {
            ratios(figures.ways(), out);
        }
        slow(figures.slow(), out);
        return out.toString();
    }

    private static void start(Figures figures, StringBuilder out) {
        out.append("\n## Start and memory\n\n");
        out.append("| figure | ours | target | other | ours / other |\n|---|---:|---:|---:|---:|\n");
        figures.ours().forEach((name, value) -> {
            Double other = figures.other().get(name);
            out.append("| ").append(name).append(" | ").append(number(value)).append(" | ");
            out.append(target(name, figures.nothing())).append(" | ");
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

    private static void ratios(Map<String, Map<String, Double>> ways, StringBuilder out) {
        out.append("\n## Ratios to the other implementation\n\n");
        out.append("Added time is the figure less that of the direct way.\n\n");
        out.append("| figure | pass-through | target | through the worker | target |\n|---|---:|---:|---:|---:|\n");
        added(ways, out, "p50, us", "≤ 1.0", "≤ 0.6");
        added(ways, out, "p99, us", "≤ 1.0", "≤ 0.9");
        ratio(ways, out, "requests/s at 64 connections", "≥ 0.95", "≥ 2.5");
        ratio(ways, out, "CPU per request, us", "", "≤ 0.5");
        ratio(ways, out, "streams of 128 events/s, 16 at once", "≥ 0.95", "≥ 3.0");
        ratio(ways, out, "answers of 1 MiB/s, 8 at once", "", "≥ 1.2");
    }

    private static void slow(Map<String, Map<String, Double>> slow, StringBuilder out) {
        out.append("\n## A thousand slow streams\n\n");
        out.append(
                "One event a second each, all through one worker that has served the requests above; memory is what the\n");
        out.append(
                "resident size of a process grew by. At most 32 KiB each in either process, and none may stall.\n\n");
        out.append("| figure |");
        slow.keySet().forEach(name -> out.append(' ').append(name).append(" |"));
        out.append("\n|---|").append("---:|".repeat(slow.size())).append('\n');
        for (String name : slow.get("ours").keySet()) {
            out.append("| ").append(name).append(" |");
            slow.values()
                    .forEach(figures -> out.append(' ')
                            .append(figures.containsKey(name) ? number(figures.get(name)) : "none open")
                            .append(" |"));
            out.append('\n');
        }
    }

    private static void added(
            Map<String, Map<String, Double>> ways, StringBuilder out, String name, String pass, String worker) {
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
            Map<String, Map<String, Double>> ways, StringBuilder out, String name, String pass, String worker) {
        row(
                out,
                name,
                ways.get("ours" + PASS).get(name) / ways.get("other" + PASS).get(name),
                pass,
                ways.get("ours" + WORKER).get(name) / ways.get("other" + WORKER).get(name),
                worker);
    }

    private static void row(
            StringBuilder out, String name, double pass, String passTarget, double worker, String workerTarget) {
        out.append("| ")
                .append(name)
                .append(" | ")
                .append(ratioText(pass))
                .append(" | ")
                .append(passTarget);
        out.append(" | ")
                .append(ratioText(worker))
                .append(" | ")
                .append(workerTarget)
                .append(" |\n");
    }

    private static String ratioText(double value) {
        return String.format(Locale.ROOT, "%.2f", value);
    }

    private static String target(String name, double nothing) {
        if (name.equals("hook, ms")) {
            return "2 × nothing = " + number(2 * nothing);
        }
        return number(TARGETS.getOrDefault(name, Double.NaN));
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
