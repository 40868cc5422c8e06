package org.nemorelay.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;

/** {@code docs/performance.md}: the figures with method and machine. */
final class Report {
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

    private Report() {}

    static String markdown(Map<String, Double> ours, Map<String, Double> others, double nothing) throws IOException {
        StringBuilder out = new StringBuilder();
        out.append("# Performance\n\n");
        out.append("Written by `integration-tests/bench/bench`; do not edit by hand. What holds each figure is in\n");
        out.append("[performance-notes.md](performance-notes.md).\n\n");
        out.append("Machine: ").append(machine()).append("\n\n");
        out.append(
                "Method: whole processes, spawned by one JVM, output read through pipes; medians after warm-up; memory is\n");
        out.append(
                "resident size from `/proc`. The other implementation (the stock binary, unless the run named another)\n");
        out.append("was measured in the same run.\n\n");
        out.append("| figure | ours | target | other | ours / other |\n|---|---:|---:|---:|---:|\n");
        ours.forEach((name, value) -> {
            Double other = others.get(name);
            out.append("| ").append(name).append(" | ").append(number(value)).append(" | ");
            out.append(target(name, nothing)).append(" | ");
            out.append(other == null ? "not measured" : number(other)).append(" | ");
            out.append(other == null ? "" : String.format(Locale.ROOT, "%.1f", value / other))
                    .append(" |\n");
        });
        out.append("\nA `java` of the development kit that does nothing: ")
                .append(number(nothing))
                .append(" ms; the hook takes ");
        out.append(String.format(Locale.ROOT, "%.2f", ours.get("hook, ms") / nothing))
                .append(" times that.\n");
        return out.toString();
    }

    private static String target(String name, double nothing) {
        if (name.equals("hook, ms")) {
            return "2 × nothing = " + number(2 * nothing);
        }
        return number(TARGETS.getOrDefault(name, Double.NaN));
    }

    private static String number(double value) {
        return value < 100 ? String.format(Locale.ROOT, "%.1f", value) : String.format(Locale.ROOT, "%.0f", value);
    }

    private static String machine() throws IOException {
        String model = Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                .filter(line -> line.startsWith("model name"))
                .map(line -> line.substring(line.indexOf(':') + 1).strip())
                .findFirst()
                .orElse("unknown processor");
        return Runtime.getRuntime().availableProcessors() + " cores, " + model + ", " + System.getProperty("os.name")
                + " " + System.getProperty("os.version") + ", Java " + Runtime.version();
    }
}
