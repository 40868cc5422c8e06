package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Seam;

/** What a carrier declares is what it serves, and what it lacks says so. */
public abstract class DeclaredSeamsConformance {
    protected abstract CarrierRig openRig();

    /** The carrier's column in the table of {@code docs/carriers.md}; empty for one that is not in it. */
    protected String column() {
        return "";
    }

    private static String row(Seam seam) {
        return switch (seam) {
            case FAN_OUT -> "fan-out";
            case QUEUES -> "queues";
            case CONTROL -> "control verbs, both halves";
            case AGENT_RPC -> "agent calls";
            case DIAL -> "connections to workers";
            case STAGING -> "file staging";
        };
    }

    @Test
    void theTableInTheDocumentationSaysTheSame() throws IOException {
        Assumptions.assumeFalse(column().isEmpty(), "this carrier is not in the table");
        Path root = Path.of("").toAbsolutePath();
        while (!Files.exists(root.resolve("docs/carriers.md"))) {
            root = root.getParent();
        }
        List<List<String>> rows = Files.readAllLines(root.resolve("docs/carriers.md")).stream()
                .filter(line -> line.startsWith("| "))
                .map(line -> Stream.of(line.split("\\|")).map(String::strip).toList())
                .toList();
        int place = rows.getFirst().indexOf(column());
        try (CarrierRig rig = openRig()) {
            for (Seam seam : Seam.values()) {
                List<String> cells = rows.stream()
                        .filter(row -> row.get(1).equals(row(seam)))
                        .findFirst()
                        .orElseThrow();
                assertEquals(
                        cells.get(place).startsWith("yes"), rig.here().seams().contains(seam), seam.name());
            }
        }
    }

    private static List<Executable> accessors(Carrier carrier, Seam seam) {
        return switch (seam) {
            case FAN_OUT -> List.of(carrier::broadcaster);
            case QUEUES -> List.of(carrier::workQueue, carrier::workConsumer);
            case CONTROL -> List.of(carrier::commands, () -> carrier.controlServer("n"));
            case AGENT_RPC -> List.of(carrier::agentControl, carrier::agentRpcServer);
            case DIAL -> List.of(carrier::backendClients, carrier::prober, carrier::dialers);
            case STAGING -> List.of(carrier::stager);
        };
    }

    @Test
    void whatItDeclaresItServesAndWhatItLacksSaysSo() throws Throwable {
        try (CarrierRig rig = openRig()) {
            Carrier carrier = rig.here();
            for (Seam seam : Seam.values()) {
                for (Executable accessor : accessors(carrier, seam)) {
                    if (carrier.seams().contains(seam)) {
                        accessor.execute();
                    } else {
                        NotServedException lacks = assertThrows(NotServedException.class, accessor, seam.name());
                        assertTrue(lacks.getMessage().contains(carrier.name()), lacks.getMessage());
                    }
                }
            }
        }
    }

    @Test
    void itIsConnectedAndNamed() {
        try (CarrierRig rig = openRig()) {
            Await.until("connected", () -> rig.here().connected());
            assertEquals(rig.here().name(), rig.here().name().strip());
        }
    }
}
