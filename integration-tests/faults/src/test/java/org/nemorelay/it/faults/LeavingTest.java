package org.nemorelay.it.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Await;
import org.nemorelay.it.Maker;

/** A session that ends while its worker starts takes that worker back; what if its client or the daemon fails just then. */
@Timeout(600)
class LeavingTest {
    @TempDir
    Path folder;

    @Test
    @Tag("long")
    void aClientThatIsKilledWhileItCancelsLeavesNothing() throws Exception {
        try (Scene scene = new Scene(folder, Maker.OURS)) {
            for (int ms : new int[] {0, 5, 10, 20, 40, 80, 160, 320}) {
                State.ACTIVATING.enter(scene);
                scene.harness().writeLine("end");
                // The moment is what is tested.
                Thread.sleep(ms);
                scene.kill(Victim.MCP);
                scene.letGo();
                scene.await(Fault.Ending.NOBODY);
            }
            scene.startHarness();
            scene.assertEndsWell();
        }
    }

    @Test
    void aDaemonThatIsSuspendedWhileItIsToCancelDoesItLater() {
        try (Scene scene = new Scene(folder, Maker.OURS)) {
            State.ACTIVATING.enter(scene);
            scene.suspend(Victim.DAEMON, true);
            scene.endHarnesses();
            assertEquals(0, scene.mcps().size());
            scene.suspend(Victim.DAEMON, false);
            scene.letGo();
            scene.await(Fault.Ending.NOBODY);
            Await.until(
                    scene::transcript,
                    Duration.ofSeconds(60),
                    () -> scene.daemonLog().contains("event=mcp_removed"));
            scene.startHarness();
            scene.assertEndsWell();
        }
    }
}
