package org.nemorelay.carriersdemo.internal;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.nemorelay.json.Json;

/** What the user of the demo sees: a line for each change and a table at the end, or JSON at the end alone. */
final class Drawing {
    private static final int BAR = 20;

    private final PrintStream out =
            new PrintStream(new FileOutputStream(FileDescriptor.out), true, StandardCharsets.UTF_8);
    private final boolean json;

    Drawing(boolean json) {
        this.json = json;
    }

    void begin(List<String> carriers, boolean nats) {
        if (!json) {
            out.println("Four threads publish, enqueue and call while the carrier changes: "
                    + String.join(" and ", carriers)
                    + (nats ? "" : "\nnats-server is not installed: both carriers are within this process") + "\n");
        }
    }

    void swapped(int number, int swaps, String from, String to, double millis, Traffic traffic) {
        if (!json) {
            int done = BAR * number / swaps;
            out.println(String.format(
                    Locale.ROOT,
                    "  [%s%s] %3d/%d  %-7s -> %-7s %8.1f ms   %,9d messages %,9d jobs %,9d calls",
                    "#".repeat(done),
                    ".".repeat(BAR - done),
                    number,
                    swaps,
                    from,
                    to,
                    millis,
                    traffic.messages(),
                    traffic.jobs(),
                    traffic.calls()));
        }
    }

    void end(int swaps, Traffic.Counts counts, List<String> carriers) {
        Map<String, Object> result = Json.object(
                "swaps", swaps,
                "published", counts.published(),
                "missing", counts.missing(),
                "doubled", counts.doubled(),
                "jobs_accepted", counts.jobsAccepted(),
                "jobs_run", counts.jobsRun(),
                "jobs_failed", counts.jobsFailed(),
                "jobs_doubled", counts.jobsDoubled(),
                "calls", counts.calls(),
                "calls_typed_failures", counts.callsTypedFailures(),
                "calls_unexplained", counts.callsUnexplained(),
                "carriers", carriers);
        if (json) {
            out.println(Json.write(result));
            return;
        }
        out.println();
        result.forEach((name, value) -> out.println(String.format(Locale.ROOT, "  %-22s %s", name, value)));
        out.println(
                counts.flawless()
                        ? "\nNothing was lost, doubled or left unexplained."
                        : "\nSomething went wrong: the counts above should be 0, and every accepted job run.");
    }
}
