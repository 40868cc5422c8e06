package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.nemorelay.seams.NotServedException;
import org.nemorelay.seams.carrier.Carrier;
import org.nemorelay.seams.carrier.Seam;

/** What a carrier declares is what it serves, and what it lacks says so. */
public abstract class DeclaredSeamsConformance {
    protected abstract CarrierRig openRig();

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
