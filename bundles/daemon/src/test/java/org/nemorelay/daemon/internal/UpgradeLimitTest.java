package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.control.ControlPaths;

/** The limit on control connections as it is configured. */
class UpgradeLimitTest {
    @Test
    void case39And95TheSeventeenthIsRefusedOnBothPathsWhereTheLimitIsSixteen() throws IOException {
        try (TestDaemon daemon = new TestDaemon().with("upgrades_per_address", 16)) {
            daemon.start();
            for (int i = 0; i < 16; i++) {
                assertEquals(
                        400,
                        plain(daemon, i % 2 == 0 ? ControlPaths.MCP : ControlPaths.WORKER)
                                .status());
            }
            for (String path : new String[] {ControlPaths.MCP, ControlPaths.WORKER}) {
                RawHttp.Answer refused = plain(daemon, path);
                assertEquals(429, refused.status());
                assertEquals("15", refused.header("retry-after"));
                assertEquals(
                        "{\"error\":{\"message\":\"authentication challenge rate limit exceeded\"}}", refused.body());
            }
            assertEquals(
                    200, RawHttp.once(daemon.port(), RawHttp.get("/healthz")).status());
            assertEquals(
                    List.of(
                            "control_upgrade_refused [address, 127.0.0.1, limit, 16, suppressed_since_last_emit, 0] An address"
                                    + " begins more control connections in 15 s than [daemon] upgrades_per_address allows; sessions that"
                                    + " are refused try again for 30 s"),
                    refusals(daemon));
        }
    }

    @Test
    void byDefaultOneMachinesSixtyFourSessionsAreFarBelowIt() throws IOException {
        try (TestDaemon daemon = new TestDaemon()) {
            daemon.start();
            for (int i = 0; i < 256; i++) {
                assertEquals(400, plain(daemon, ControlPaths.MCP).status());
            }
            assertEquals(List.of(), refusals(daemon));
        }
    }

    private static List<String> refusals(TestDaemon daemon) {
        return daemon.events.stream()
                .filter(line -> line.startsWith("control_upgrade_refused "))
                .toList();
    }

    private static RawHttp.Answer plain(TestDaemon daemon, String path) throws IOException {
        return RawHttp.once(daemon.port(), RawHttp.get(path));
    }
}
