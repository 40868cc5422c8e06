package org.nemorelay.bench;

import java.nio.file.Files;
import java.nio.file.Path;
import org.nemorelay.carrier.nats.internal.NatsBench;
import org.nemorelay.carriers.internal.FacadeBench;

/** {@code CarrierMain FILE} measures carriers and facades, and writes the report. */
public final class CarrierMain {
    private CarrierMain() {}

    public static void main(String[] arguments) throws Exception {
        Run.begin("nemo-relay-carriers-bench");
        Targets targets = new Targets();
        String report = "# Performance of carriers\n\nWritten by `integration-tests/bench/bench carriers`, on "
                + Runtime.getRuntime().availableProcessors() + " processors with JDK "
                + Runtime.version().feature()
                + ".\nMedians; ratios and differences are of pairs of runs, one after the other.\n\n"
                + "## The NATS carrier beside bare jnats, the same bytes over the same server\n\n"
                + "| what | jnats | carrier | ratio | target |\n| --- | --- | --- | --- | --- |\n"
                + String.join("\n", NatsBench.rows(targets))
                + "\n\n## A facade over a carrier that does nothing, in ns per call\n\n"
                + "| call | carrier | facade | more | target |\n| --- | --- | --- | --- | --- |\n"
                + String.join("\n", FacadeBench.rows(targets)) + "\n";
        Files.writeString(Path.of(arguments[0]), report);
        System.out.println(report);
        System.exit(targets.exitStatus());
    }
}
