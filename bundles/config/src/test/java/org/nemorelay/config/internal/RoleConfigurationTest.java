package org.nemorelay.config.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.EventLog.Level;
import org.nemorelay.telemetry.LogSettings;

/** Which file, variable and flag reaches which role, and which wins. */
class RoleConfigurationTest {
    @TempDir
    Path folder;

    private Path home;
    private Path user;
    private final Map<String, String> environment = new HashMap<>();
    private final Map<String, String> flags = new HashMap<>();

    @BeforeEach
    void layout() throws IOException {
        home = folder.resolve("home");
        write("home/etc/config.toml", "");
        user = folder.resolve("user");
        environment.put("XDG_CONFIG_HOME", user.toString());
    }

    private void write(String file, String text) throws IOException {
        Path path = folder.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-r--r--"));
        Files.setPosixFilePermissions(path.getParent(), PosixFilePermissions.fromString("rwxr-xr-x"));
    }

    private RoleConfiguration resolve(String role) {
        return RoleConfiguration.resolve(new LaunchOptions(role, home, flags, environment));
    }

    private Object value(String role, String pid, String key) {
        return resolve(role).pids().get("org.nemorelay." + pid).get(key);
    }

    private RoleConfiguration worker() {
        flags.put("daemon-address", "http://127.0.0.1:47632");
        RoleConfiguration configuration = resolve("worker");
        configuration.plugins().orElseThrow().sound();
        return configuration;
    }

    /** It has to reach its daemon, to say so before it ends. */
    @Test
    void aWorkerWithWrongFilesIsConfiguredForAllThatItsOptionsSay() throws IOException {
        write("home/etc/config.toml", "[upstream]\nfoo = 1\n");
        write("home/etc/plugins.toml", "[[componnts]]\n");
        flags.put("daemon-address", "http://127.0.0.1:47632");
        RoleConfiguration configuration = resolve("worker");
        assertEquals(
                "http://127.0.0.1:47632",
                configuration.pids().get("org.nemorelay.worker").get("daemon_address"));
        assertEquals(
                List.of(
                        home.resolve("etc/config.toml") + ":2:1: [upstream] \"foo\" is",
                        home.resolve("etc/plugins.toml") + ":1:1: \"componnts\" is"),
                configuration.plugins().orElseThrow().problems().stream()
                        .map(line -> line.substring(0, line.indexOf(" not a known key")))
                        .toList());
    }

    @Test
    void defaultsOfADaemon() {
        assertEquals(
                Map.of(
                        "org.nemorelay.daemon",
                        Map.of(
                                "bind",
                                "127.0.0.1",
                                "port",
                                47632,
                                "advertise_address",
                                "",
                                "tls_cert",
                                "",
                                "tls_key",
                                "",
                                "upgrades_per_address",
                                0,
                                "trusted_proxies",
                                "",
                                "pass_through",
                                false,
                                "require_worker",
                                false,
                                "max_tokens_per_identity",
                                4),
                        "org.nemorelay.upstream",
                        Map.of(
                                "openai_base_url", "https://api.openai.com/v1",
                                "openai_auth_header", "",
                                "anthropic_base_url", "https://api.anthropic.com",
                                "anthropic_auth_header", "",
                                "chatgpt_codex_base_url", "https://chatgpt.com/backend-api/codex",
                                "response_timeout_secs", 0L),
                        "org.nemorelay.gateway",
                        Map.of("max_hook_payload_bytes", 20L << 20, "max_passthrough_body_bytes", 100L << 20)),
                resolve("daemon").pids());
    }

    @Test
    void case65TlsNeedsBothFiles() throws IOException {
        flags.put("tls-cert", "cert.pem");
        RelayException alone = assertThrows(RelayException.class, () -> resolve("daemon"));
        assertTrue(alone.getMessage().contains("only tls_cert (--tls-cert)"), alone.getMessage());
        flags.put("tls-key", "key.pem");
        assertEquals("key.pem", value("daemon", "daemon", "tls_key"));
    }

    @Test
    void case63AdvertisedHttpsStandsWithoutNativeTlsAndHttpDoesNotStandWithIt() throws IOException {
        flags.put("advertise-address", "https://127.0.0.1:1");
        assertEquals("https://127.0.0.1:1", value("daemon", "daemon", "advertise_address"));
        flags.put("tls-cert", "cert.pem");
        flags.put("tls-key", "key.pem");
        assertEquals("https://127.0.0.1:1", value("daemon", "daemon", "advertise_address"));
        flags.put("advertise-address", "http://127.0.0.1:1");
        RelayException refused = assertThrows(RelayException.class, () -> resolve("daemon"));
        assertTrue(refused.getMessage().contains("must use https"), refused.getMessage());
    }

    @Test
    void systemFileWinsOverUserFileEnvironmentOverFilesFlagsOverAll() throws IOException {
        write("user/nemo-relay/config.toml", "[upstream]\nopenai_base_url = \"https://user\"\n[daemon]\nport = 1\n");
        assertEquals("https://user", value("daemon", "upstream", "openai_base_url"));
        assertEquals(1, value("daemon", "daemon", "port"));
        write("home/etc/config.toml", "[upstream]\nopenai_base_url = \"https://system\"\n");
        assertEquals("https://system", value("daemon", "upstream", "openai_base_url"));
        environment.put("NEMO_RELAY_OPENAI_BASE_URL", "https://environment");
        assertEquals("https://environment", value("daemon", "upstream", "openai_base_url"));
        flags.put("openai-base-url", "https://flag");
        assertEquals("https://flag", value("daemon", "upstream", "openai_base_url"));
    }

    @Test
    void changedBaseUrlLosesTheCredentialOfTheLayerBelow() throws IOException {
        write(
                "home/etc/config.toml",
                "[upstream]\nopenai_base_url = \"https://system\"\nopenai_auth_header = \"Bearer k\"\n");
        assertEquals("Bearer k", value("daemon", "upstream", "openai_auth_header"));
        environment.put("NEMO_RELAY_OPENAI_BASE_URL", "https://environment");
        assertEquals("", value("daemon", "upstream", "openai_auth_header"));
    }

    @Test
    void givenFileReplacesTheUserLayer() throws IOException {
        write("user/nemo-relay/config.toml", "[daemon]\nport = 1\n");
        write("other.toml", "[gateway]\nmax_hook_payload_bytes = 7\n");
        flags.put("config", folder.resolve("other.toml").toString());
        assertEquals(47632, value("daemon", "daemon", "port"));
        assertEquals(7L, value("daemon", "gateway", "max_hook_payload_bytes"));
        flags.put("config", folder.resolve("none.toml").toString());
        assertEquals(
                "--config: there is no file " + folder.resolve("none.toml"),
                assertThrows(RelayException.class, () -> resolve("daemon")).getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    NEMO_RELAY_DAEMON_MAX_TOKENS_PER_IDENTITY | 65          | an integer from 1 through 64
                    NEMO_RELAY_DAEMON_MAX_TOKENS_PER_IDENTITY | ''          | an integer from 1 through 64
                    NEMO_RELAY_MAX_HOOK_PAYLOAD_BYTES         | 0           | a positive integer
                    NEMO_RELAY_ANTHROPIC_BASE_URL             | ftp://a     | an absolute https URL (http on loopback only) without credentials, query or fragment
                    NEMO_RELAY_OPENAI_AUTH_HEADER             | ''          | a non-empty header value of printable ASCII
                    """)
    void badVariablesAreNamed(String variable, String text, String expected) {
        environment.put(variable, text);
        assertEquals(
                variable + " must be " + expected,
                assertThrows(RelayException.class, () -> resolve("daemon")).getMessage());
        environment.put("NEMO_RELAY_DAEMON_OBSERVATION_CAPTURE_BYTES", "1");
        worker(); // A daemon's variable cannot break a worker.
    }

    @Test
    void workerHeedsTheSystemFolderOnly() throws IOException {
        write("user/nemo-relay/config.toml", "[upstream]\nopenai_base_url = \"https://user\"\n");
        write("user/nemo-relay/plugins.toml", "version = 2\n");
        environment.put("NEMO_RELAY_OPENAI_BASE_URL", "https://environment");
        environment.put("NEMO_RELAY_MAX_HOOK_PAYLOAD_BYTES", "1");
        RoleConfiguration worker = worker();
        assertEquals(
                "https://api.openai.com/v1",
                worker.pids().get("org.nemorelay.upstream").get("openai_base_url"));
        assertEquals(20L << 20, worker.pids().get("org.nemorelay.gateway").get("max_hook_payload_bytes"));
        assertEquals(
                Map.of(
                        "daemon_address", "http://127.0.0.1:47632",
                        "bind", "127.0.0.1",
                        "port", 0,
                        "advertise_address", "",
                        "observation_capture_bytes", 16 << 20),
                worker.pids().get("org.nemorelay.worker"));
        write("home/etc/config.toml", "[upstream]\nopenai_base_url = \"https://system\"\n");
        assertEquals(
                "https://system", worker().pids().get("org.nemorelay.upstream").get("openai_base_url"));
    }

    @Test
    void captureBytesMustBePositive() {
        environment.put("NEMO_RELAY_DAEMON_OBSERVATION_CAPTURE_BYTES", "0");
        assertEquals(
                "NEMO_RELAY_DAEMON_OBSERVATION_CAPTURE_BYTES must be an integer from 1 through 2147483647",
                assertThrows(RelayException.class, this::worker).getMessage());
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
                    daemon | 0.0.0.0 |                          | a daemon bound to 0.0.0.0 requires --advertise-address
                    daemon | 0.0.0.0 | http://127.0.0.1:1       | --advertise-address "http://127.0.0.1:1": a daemon bound to 0.0.0.0 must advertise a concrete reachable host
                    daemon | 0.0.0.0 | http://relay.example:1   | --advertise-address "http://relay.example:1": non-loopback daemon addresses must use https
                    worker | 0.0.0.0 |                          | --bind 0.0.0.0: a worker bound to 0.0.0.0 requires --advertise-address
                    worker |         | host                     | --advertise-address "host" needs a worker bound to 0.0.0.0, and --bind is 127.0.0.1
                    """)
    void addressesThatCannotBeReachedAreRefused(String role, String bind, String advertise, String message) {
        flags.put("daemon-address", "http://127.0.0.1:47632");
        if (bind != null) {
            flags.put("bind", bind);
        }
        if (advertise != null) {
            flags.put("advertise-address", advertise);
        }
        assertEquals(
                message, assertThrows(RelayException.class, () -> resolve(role)).getMessage());
    }

    @Test
    void passThroughAndRequireWorkerExcludeEachOther() throws IOException {
        write("home/etc/config.toml", "[daemon]\nrequire_worker = true\n");
        flags.put("pass-through", "true");
        String message =
                assertThrows(RelayException.class, () -> resolve("daemon")).getMessage();
        assertTrue(message.contains("--pass-through") && message.contains("config.toml:2:1"), message);
    }

    @Test
    void eachRoleHasItsOwnLoggingSection() throws IOException {
        write(
                "home/etc/config.toml",
                "[logging]\nlevel = \"warn\"\n[daemon.logging]\nlevel = \"debug\"\nstderr_format = \"jsonl\"\n");
        write("user/nemo-relay/config.toml", "[logging]\nlevel = \"trace\"\n");
        assertEquals(
                new LogSettings(Level.DEBUG, true, LogSettings.Format.JSONL, List.of()),
                resolve("daemon").logging());
        assertEquals(new LogSettings(Level.WARN, true, LogSettings.Format.HUMAN, List.of()), worker().logging());
    }

    @Test
    void brokenFilesOfEitherLayerStopTheStart() throws IOException {
        write("user/nemo-relay/config.toml", "[upstream]\nfoo = 1\n");
        String message =
                assertThrows(RelayException.class, () -> resolve("daemon")).getMessage();
        assertTrue(message.startsWith(user + "/nemo-relay/config.toml:2:1: [upstream] \"foo\""), message);
        worker();
    }

    @Test
    void ownEtcMustBelongToTheTreeAndBeWritableByItsOwnerOnly() throws IOException {
        Path etc = home.resolve("etc");
        Files.setPosixFilePermissions(etc, PosixFilePermissions.fromString("rwxrwxr-x"));
        assertEquals(
                etc + " must not be writable by group or others: chmod go-w " + etc,
                assertThrows(RelayException.class, this::worker).getMessage());
        Files.setPosixFilePermissions(etc, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwxrwxrwx"));
        assertEquals(
                home + " must not be writable by group or others: chmod go-w " + home,
                assertThrows(RelayException.class, this::worker).getMessage());
        Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path file = etc.resolve("config.toml");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--rw-"));
        assertThrows(RelayException.class, this::worker);
        Files.delete(file);
        Files.createSymbolicLink(file, folder.resolve("elsewhere"));
        assertEquals(
                file + " must not be a symbolic link",
                assertThrows(RelayException.class, this::worker).getMessage());
    }

    @Test
    void ownEtcOfAnotherUserIsRefused() throws IOException {
        org.junit.jupiter.api.Assumptions.assumeTrue(
                Files.getAttribute(folder, "unix:uid").equals(0), "needs root");
        Files.setAttribute(home.resolve("etc/config.toml"), "unix:uid", 12345);
        assertEquals(
                home.resolve("etc/config.toml")
                        + " must belong to the owner of the installed tree (uid 0), not to uid 12345",
                assertThrows(RelayException.class, this::worker).getMessage());
    }
}
