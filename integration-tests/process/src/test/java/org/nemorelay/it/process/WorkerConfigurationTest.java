package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;

/** A worker obeys the administrator alone: nothing its user sets leads requests or records elsewhere. */
class WorkerConfigurationTest {
    @TempDir
    Path folder;

    @Test
    void theUsersFilesAndEnvironmentDoNotReachIt() throws IOException {
        try (OneUser bench = new OneUser(folder);
                MockProvider users = new MockProvider();
                Relay relay = bench.daemon()) {
            Path files = Files.createDirectories(bench.user.home().resolve(".config/nemo-relay"));
            Files.writeString(files.resolve("config.toml"), Relay.upstreamToml(users));
            Files.writeString(files.resolve("plugins.toml"), "[[components]]\nkind = \"no_such_kind\"\n");
            Proc.Spec session = bench.user
                    .withToken(bench.executable.toString(), "daemon", "mcp", "--daemon-address", relay.address())
                    .env("NEMO_RELAY_ANTHROPIC_BASE_URL", users.origin())
                    .env("NEMO_RELAY_OPENAI_BASE_URL", users.origin())
                    .env("ANTHROPIC_BASE_URL", users.origin())
                    .env("XDG_CONFIG_HOME", bench.user.home().resolve(".config").toString())
                    .env("JAVA_TOOL_OPTIONS", "-Dnemorelay.home=/nowhere");
            try (McpSession mcp = McpSession.start(session)) {
                mcp.initialize();
                relay.awaitReadyWorker(mcp);
                for (String path : new String[] {"/v1/messages", "/v1/responses"}) {
                    assertEquals(
                            200,
                            RawHttp.post(relay.port(), path, "{}", bench.user.header())
                                    .status());
                    assertEquals(1, bench.provider.received(path).size());
                }
                assertEquals(0, users.received().size());
                assertEquals(0, mcp.end());
            }
        }
    }
}
