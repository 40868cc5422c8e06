package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.RawHttp;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/** A hook's ways to its daemon: by proof, through the tunnel, with the largest payload, with tokens in two folders. */
class HookRoadTest {
    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final int LARGEST = 20 << 20;
    private static final byte[] CLOSED = "{\"hook_event_name\":\"PreToolUse\"}".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    private static Proc.Spec hook(Proc.Spec user, Path executable, Relay relay) {
        return user.command(executable.toString(), "daemon", "hook", "claude", "--daemon-address", relay.address());
    }

    private static void delivered(Proc.Result result) {
        assertEquals(0, result.exit(), result.stderr());
        assertEquals("{\"continue\":true}", result.stdout());
        assertEquals("", result.stderr());
    }

    @Test
    void theLargestPayloadArrivesUntouchedOnEveryRoad() throws Exception {
        byte[] payload = payload();
        User user = User.self(folder.resolve("home"));
        try (MockProvider provider = new MockProvider()) {
            Path executable = Distribution.privateTree(
                            folder.resolve("tree"), Relay.upstreamToml(provider), "version = 1\n")
                    .resolve("bin/nemo-relay");
            try (Relay relay = Relay.start(user, executable, Relay.upstream(provider))) {
                delivered(hook(user.withToken(), executable, relay).run(payload, LIMIT)); // tunnel, pass-through
                try (McpSession mcp = McpSession.initialized(user, executable, relay)) {
                    relay.awaitReadyWorker(mcp);
                    delivered(hook(user.withToken(), executable, relay).run(payload, LIMIT)); // proof, worker
                }
            }
        }
    }

    private static byte[] payload() {
        byte[] start =
                "{\"hook_event_name\":\"PostToolUse\",\"session_id\":\"s\",\"x\":\"\ufeff\u4e00\u8868\ud83d\ude00 "
                        .getBytes(StandardCharsets.UTF_8);
        byte[] payload = Arrays.copyOf(start, LARGEST);
        Arrays.fill(payload, start.length, LARGEST - 2, (byte) 'x');
        payload[LARGEST - 2] = '"';
        payload[LARGEST - 1] = '}';
        return payload;
    }

    @Test
    void aDaemonOfAnotherAccountIsKnownByItsPublishedCertificate() throws Exception {
        try (OneUser bench = new OneUser(folder)) {
            User service = User.self(folder.resolve("service"));
            Proc.Result certificate = service.spec(bench.executable.toString(), "daemon", "tls-certificate")
                    .run(LIMIT);
            assertEquals(0, certificate.exit(), certificate.stderr());
            assertTrue(
                    certificate
                            .stdout()
                            .matches("-----BEGIN CERTIFICATE-----\n[A-Za-z0-9+/=\n]+\n-----END CERTIFICATE-----\n"),
                    certificate.stdout());
            try (Relay relay = Relay.start(service, bench.executable, Relay.upstream(bench.provider))) {
                Proc.Result unknown =
                        hook(bench.user.withToken(), bench.executable, relay).run(CLOSED, LIMIT);
                assertEquals(2, unknown.exit(), unknown.stderr());
                assertTrue(unknown.stderr().contains("no certificate of a daemon is known"), unknown.stderr());
                Path published = bench.executable
                        .resolve("../../etc/hook-tls-certificate.pem")
                        .normalize();
                Files.writeString(published, certificate.stdout());
                Files.setPosixFilePermissions(published, PosixFilePermissions.fromString("rw-r--r--"));
                delivered(hook(bench.user.withToken(), bench.executable, relay).run(CLOSED, LIMIT));
                Files.setPosixFilePermissions(published, PosixFilePermissions.fromString("rw-rw-r--"));
                Proc.Result loose =
                        hook(bench.user.withToken(), bench.executable, relay).run(CLOSED, LIMIT);
                assertEquals(2, loose.exit(), loose.stderr());
                assertTrue(loose.stderr().contains("must not be writable by group or others"), loose.stderr());
            }
        }
    }

    @Test
    void tokensInBothFoldersMustBeTheSame() throws Exception {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon()) {
            User user = bench.user;
            Path xdg = Files.createDirectories(folder.resolve("xdg"));
            Path inHome = token(user.home().resolve(".config"), user.token());
            Proc.Spec both = user.spec().env("XDG_CONFIG_HOME", xdg.toString());
            delivered(hook(both, bench.executable, relay).run(CLOSED, LIMIT));
            Path inXdg = token(xdg, User.self(folder.resolve("other")).token());
            Proc.Result hook = hook(user.spec().env("XDG_CONFIG_HOME", xdg.toString()), bench.executable, relay)
                    .run(CLOSED, LIMIT);
            assertEquals(2, hook.exit(), hook.stderr());
            Proc.Result mcp = user.spec(
                            bench.executable.toString(), "daemon", "mcp", "--daemon-address", relay.address())
                    .env("XDG_CONFIG_HOME", xdg.toString())
                    .run(LIMIT);
            assertEquals(1, mcp.exit(), mcp.stderr());
            for (Proc.Result result : java.util.List.of(hook, mcp)) {
                assertTrue(
                        result.stderr().contains(inXdg + " and " + inHome + " hold different client tokens"),
                        result.stderr());
            }
        }
    }

    private static Path token(Path configuration, String token) throws Exception {
        Path file = Files.createDirectories(configuration.resolve("nemo-relay")).resolve(".client-token");
        Files.writeString(file, token + "\n");
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
        return file;
    }

    @Test
    void theStateFolderHoldsTheIdentityForItsOwnerOnly() throws Exception {
        try (OneUser bench = new OneUser(folder);
                Relay relay = bench.daemon()) {
            Path file = bench.user.home().resolve(".config/nemo-relay/bootstrap/hook-tls-identity.json");
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
            byte[] before = Files.readAllBytes(file);
            Proc.Result shown = bench.user
                    .spec(bench.executable.toString(), "daemon", "tls-certificate")
                    .run(LIMIT);
            assertEquals(0, shown.exit(), shown.stderr());
            assertArrayEquals(before, Files.readAllBytes(file));
            assertEquals(403, RawHttp.get(relay.port(), "/bootstrap/tunnel").status());
        }
    }
}
