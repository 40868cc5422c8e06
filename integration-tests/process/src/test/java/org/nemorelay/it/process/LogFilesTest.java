package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;
import org.nemorelay.json.Json;

/** {@code --log-config-path}, its variable, {@code [[daemon.logging.sinks]]} and {@code stderr_enabled} in the real processes. */
class LogFilesTest {
    private static final Duration SOON = Duration.ofSeconds(20);

    @TempDir
    Path folder;

    private User user;
    private Path settings;
    private Path file;

    @BeforeEach
    void settings() throws IOException {
        user = User.self(folder.resolve("user"));
        file = folder.resolve("logs/relay.log");
        settings = Files.writeString(
                folder.resolve("log.toml"),
                "[logging]\nlevel = \"info\"\nstderr_enabled = false\n[[logging.sinks]]\npath = \"" + file + "\"\n");
    }

    private Proc.Spec relay(String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Distribution.tree().resolve("bin/nemo-relay").toString());
        command.addAll(List.of(arguments));
        return user.spec(command.toArray(String[]::new));
    }

    private List<String> events() throws IOException {
        return Files.readAllLines(file).stream()
                .map(line -> Json.parseObject(line).string("event"))
                .toList();
    }

    @Test
    void theSmallCompanionsWriteWhereTheVariableSays() throws IOException {
        Proc.Result mcp = relay("daemon", "mcp", "--daemon-address", "http://127.0.0.1:1")
                .env("NEMO_RELAY_LOG_CONFIG_PATH", settings.toString())
                .run(SOON);
        assertEquals(0, mcp.exit(), mcp.toString());
        assertEquals("", mcp.stderr());
        assertTrue(events().contains("daemon_mcp_pass_through"), events().toString());

        Proc.Result hook = relay("daemon", "hook", "codex", "--daemon-address", "http://127.0.0.1:1")
                .env("NEMO_RELAY_LOG_CONFIG_PATH", settings.toString())
                .run(SOON);
        assertEquals(2, hook.exit(), hook.toString());
        assertTrue(hook.stderr().startsWith("nemo-relay hook forward failed: "), hook.stderr());
        assertTrue(events().contains("daemon_hook_delivery_failed"), events().toString());
    }

    @Test
    void aHookFailsClosedWhateverIsWrongWithTheSettingsOfItsLog() {
        Proc.Result hook = relay("daemon", "hook", "codex", "--daemon-address", "http://127.0.0.1:1")
                .env("NEMO_RELAY_LOG_CONFIG_PATH", "/nowhere.toml")
                .run(SOON);
        assertEquals(2, hook.exit(), hook.toString());
        assertTrue(hook.stderr().contains("logging configuration: there is no file /nowhere.toml"), hook.stderr());
    }

    @Test
    void theDaemonWritesWhereItsOptionSays() throws IOException {
        daemonWrites(Relay.freePort(), "--log-config-path", settings.toString());
    }

    @Test
    void theDaemonWritesWhereItsConfigurationSays() throws IOException {
        Path config = Files.writeString(
                folder.resolve("config.toml"), Files.readString(settings).replace("[logging", "[daemon.logging"));
        daemonWrites(Relay.freePort(), "--config", config.toString());
    }

    private void daemonWrites(int port, String option, String value) throws IOException {
        Proc daemon;
        try (Relay relay = Relay.start(port, relay(option, value, "daemon", "--port", Integer.toString(port)))) {
            daemon = relay.process();
        }
        assertEquals("", daemon.stderr());
        assertTrue(
                events().containsAll(List.of("logging_initialized", "daemon_listening", "daemon_stopped")),
                events().toString());
    }

    @Test
    void aDaemonWhoseFileCannotBeOpenedDoesNotStart() throws IOException {
        Files.writeString(folder.resolve("logs"), "no folder");
        Proc.Result daemon =
                relay("--log-config-path", settings.toString(), "daemon").run(SOON);
        assertEquals(1, daemon.exit(), daemon.toString());
        assertTrue(
                daemon.stderr()
                        .startsWith("configuration error: " + settings + ":5:1: logging sink " + file
                                + " cannot be opened: "),
                daemon.stderr());
    }
}
