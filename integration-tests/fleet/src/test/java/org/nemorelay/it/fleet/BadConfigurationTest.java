package org.nemorelay.it.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;

/** A role that cannot be what it is configured to be ends with one line that says where and what. */
class BadConfigurationTest {
    @TempDir
    Path folder;

    private void refused(String role, String configuration, String... parts) throws IOException {
        Path file = Files.writeString(folder.resolve("config.toml"), configuration);
        Proc.Result result = Proc.spec()
                .command(Distribution.tree().resolve("bin/nemo-relay").toString(), "--config", file.toString(), role)
                .env("HOME", folder.toString())
                .run(Duration.ofSeconds(60));
        assertEquals(1, result.exit(), role + ": " + result);
        assertEquals("", result.stdout());
        assertFalse(result.stderr().contains("\tat "), result.stderr());
        for (String part : parts) {
            assertTrue(result.stderr().contains(part), part + " in: " + result.stderr());
        }
    }

    @Test
    void aLoneRoleOnTheLocalCarrier() throws IOException {
        for (String role : new String[] {"frontend", "node", "agent-worker"}) {
            refused(role, "", "[distributed] carrier", "\"local\"", role);
        }
        refused(
                "node",
                "[distributed]\ncarrier = \"mine\"\n[distributed.carriers.mine]\ntype = \"local\"\n",
                "config.toml:2",
                "[distributed] carrier",
                "\"mine\"");
    }

    @Test
    void aPortInUse() throws IOException {
        try (var taken = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress())) {
            refused(
                    "frontend",
                    nats() + "[frontend]\nport = " + taken.getLocalPort() + "\n",
                    "127.0.0.1:" + taken.getLocalPort(),
                    "in use");
        }
    }

    @Test
    void aTokenFileThatIsNotThere() throws IOException {
        refused(
                "agent-worker",
                nats().replace(
                                "[distributed.carriers",
                                "registration_token_file = \"/nowhere/token\"\n[distributed.carriers"),
                "registration_token_file",
                "/nowhere/token");
    }

    private static String nats() {
        return """
                [distributed]
                carrier = "main"
                [distributed.carriers.main]
                type = "nats"
                servers = ["nats://127.0.0.1:1"]
                """;
    }
}
