package org.nemorelay.mcp.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.control.FakeDaemon;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.TimeScale;
import org.nemorelay.protocol.control.Capabilities;
import org.nemorelay.protocol.control.Descriptor;
import org.nemorelay.protocol.control.ProtocolRange;
import org.nemorelay.protocol.control.Role;

/** A daemon that knows no cancellation is waited for, 150 s at most (relay-daemon 5.9). */
@Timeout(400)
class OlderDaemonPatienceTest {
    private static final Duration PATIENCE = Duration.ofSeconds(150);

    @TempDir
    Path temp;

    @Test
    void theHarnessIsAnsweredWhenThePatienceEnds() throws Exception {
        answeredAfter(50);
    }

    @Test
    @Tag("long")
    void theHarnessIsAnsweredAfterTheDocumentedTime() throws Exception {
        answeredAfter(1);
    }

    private void answeredAfter(int scale) throws Exception {
        try (FakeDaemon daemon = new FakeDaemon(temp.resolve("daemon-user"))) {
            daemon.descriptor = new Descriptor(
                    Descriptor.SERVICE, Role.DAEMON, ProtocolRange.CURRENT, Capabilities.REQUIRED, "0.8");
            daemon.directive = new Directive.WaitForWorker(100);
            long begun = System.nanoTime();
            try (Harness harness = harness(daemon, scale)) {
                harness.initialize();
                assertTrue(harness.answer(2 * PATIENCE.toSeconds()).startsWith("{\"id\":0,"));
                Duration waited = Duration.ofNanos(System.nanoTime() - begun);
                assertTrue(waited.compareTo(PATIENCE.dividedBy(scale)) >= 0, waited::toString);
            }
            assertEquals(List.of(), daemon.faults());
        }
    }

    private Harness harness(FakeDaemon daemon, int scale) throws IOException {
        return new Harness(
                Files.createDirectories(temp.resolve("user")),
                daemon.url(),
                true,
                Map.of(TimeScale.VARIABLE, Integer.toString(scale)));
    }
}
