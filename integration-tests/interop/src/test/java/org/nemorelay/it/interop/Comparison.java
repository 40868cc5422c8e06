package org.nemorelay.it.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.nemorelay.it.Maker;
import org.nemorelay.it.Proc;

/** Collects how our treatment differs from the stock one, case by case, and holds that against the accepted list. */
final class Comparison {
    private final Map<String, String> accepted;
    private final StringBuilder differences = new StringBuilder();
    private final List<String> outdated = new ArrayList<>();

    /** @param accepted name of a case to the reason why ours differs */
    Comparison(Map<String, String> accepted) {
        this.accepted = accepted;
    }

    void of(String name, Function<Maker, Proc.Result> run) {
        of(name, text(run.apply(Maker.STOCK)), text(run.apply(Maker.OURS)));
    }

    void of(String name, String stock, String ours) {
        if (accepted.containsKey(name)) {
            if (stock.equals(ours)) {
                outdated.add(name);
            }
        } else if (!stock.equals(ours)) {
            differences
                    .append("=== ")
                    .append(name)
                    .append("\n--- stock\n")
                    .append(stock)
                    .append("--- ours\n")
                    .append(ours);
        }
    }

    /** Fails on a difference that is not accepted, and on an accepted one that is no more. */
    void hold() {
        assertEquals("", differences.toString());
        assertEquals(List.of(), outdated, "no longer differ");
    }

    /** Exit code, standard output without the version, and whether standard error holds a line that is no log line. */
    private static String text(Proc.Result result) {
        String stdout = result.stdout().replaceAll("\"version\":\"[^\"]+\"", "\"version\":\"some\"");
        boolean plain =
                result.stderr().lines().anyMatch(line -> !line.isBlank() && !line.matches("\\d{4}-.*Z [A-Z]+ .*"));
        return "exit " + result.exit() + (plain ? ", explained" : ", silent") + "\n" + stdout + "\n";
    }
}
