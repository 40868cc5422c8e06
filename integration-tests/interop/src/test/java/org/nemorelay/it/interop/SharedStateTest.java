package org.nemorelay.it.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Maker;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/**
 * Both makers on one configuration folder, one after the other: the identities, the pins and the generation file that one
 * wrote serve the other. The client refuses a daemon whose key is not the pinned one, so a session that comes up proves
 * it.
 */
class SharedStateTest {
    @TempDir
    Path folder;

    @Test
    void oneFolderServesBothInTurn() {
        int port = Relay.freePort();
        User user = User.self(folder.resolve("home"));
        try (MockProvider provider = new MockProvider()) {
            Maker.Program ours =
                    Maker.OURS.configured(folder.resolve("ours"), Relay.upstreamToml(provider), "version = 1\n");
            Maker.Program stock =
                    Maker.STOCK.configured(folder.resolve("stock"), Relay.upstreamToml(provider), "version = 1\n");
            for (Maker.Program daemon : List.of(stock, ours, stock)) {
                try (Relay relay = Relay.start(port, user, daemon.executable(), Relay.upstream(provider))) {
                    for (Maker.Program client : List.of(ours, stock)) {
                        try (McpSession mcp = McpSession.start(client.around()
                                .apply(user.withToken(
                                        client.executable().toString(),
                                        "daemon",
                                        "mcp",
                                        "--daemon-address",
                                        relay.address())))) {
                            mcp.initialize();
                            relay.awaitReadyWorker(mcp);
                            assertEquals(0, mcp.end(), mcp.process().transcript());
                            relay.awaitNoWorker(Duration.ofSeconds(10));
                        }
                    }
                }
            }
        }
    }
}
