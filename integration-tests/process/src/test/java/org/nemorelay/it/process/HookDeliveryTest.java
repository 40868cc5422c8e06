package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.Distribution;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.User;

/**
 * A hook that reaches nobody, whose daemon dies under it, or whose installation is not the daemon's any more: sent once at
 * most, and the event's policy decides (B30; strangers that answer, and whoever steps between proof and hook, are in
 * {@link StrangerTest}).
 */
class HookDeliveryTest {
    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final byte[] CLOSED = "{\"hook_event_name\":\"PreToolUse\"}".getBytes(StandardCharsets.UTF_8);
    private static final byte[] OPEN = "{\"hook_event_name\":\"PostToolUse\"}".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    private static Proc.Result hook(User user, String address, byte[] payload) {
        return user.withToken(
                        Distribution.tree().resolve("bin/nemo-relay").toString(),
                        "daemon",
                        "hook",
                        "codex",
                        "--daemon-address",
                        address)
                .run(payload, LIMIT);
    }

    private static void policyDecides(User user, String address, String why) {
        Proc.Result closed = hook(user, address, CLOSED);
        assertEquals(2, closed.exit(), closed.toString());
        assertEquals("", closed.stdout());
        String last = closed.stderr().lines().reduce((a, b) -> b).orElse("");
        assertTrue(last.startsWith("nemo-relay hook forward failed: ") && last.contains(why), closed.stderr());
        Proc.Result open = hook(user, address, OPEN);
        assertEquals(0, open.exit(), open.toString());
        assertEquals("", open.stdout());
        assertEquals(1, open.stderr().lines().count(), open.stderr());
        assertTrue(open.stderr().contains(why), open.stderr());
    }

    @Test
    void nobodyListens() {
        policyDecides(
                User.self(folder.resolve("home")),
                "http://127.0.0.1:" + Relay.freePort(),
                "failed to connect to daemon");
    }

    @Test
    void aDaemonThatDiesWithTheHookInItsHandsGetsItOnce() throws Exception {
        User user = User.self(folder.resolve("home"));
        try (ProvenDaemon daemon = new ProvenDaemon(user.token(), "")) {
            policyDecides(user, daemon.address(), "is in doubt");
            assertEquals(2, daemon.connections());
            assertEquals(2, daemon.bodies().size());
        }
    }

    @Test
    void aDaemonWhoseIdentityIsNotTheOneThatWasPublishedIsToldNothing() throws Exception {
        try (OneUser bench = new OneUser(folder)) {
            User service = User.self(folder.resolve("service"));
            String certificate = service.spec(bench.executable.toString(), "daemon", "tls-certificate")
                    .run(LIMIT)
                    .stdout();
            Distribution.write(
                    bench.executable
                            .resolve("../../etc/hook-tls-certificate.pem")
                            .normalize(),
                    certificate);
            Files.delete(service.home().resolve(".config/nemo-relay/bootstrap/hook-tls-identity.json"));
            try (Relay relay = Relay.start(service, bench.executable, Relay.upstream(bench.provider))) {
                for (byte[] payload : new byte[][] {CLOSED, OPEN}) {
                    Proc.Result result = bench.user
                            .withToken(
                                    bench.executable.toString(),
                                    "daemon",
                                    "hook",
                                    "codex",
                                    "--daemon-address",
                                    relay.address())
                            .run(payload, LIMIT);
                    assertEquals(payload == CLOSED ? 2 : 0, result.exit(), result.toString());
                    assertEquals("", result.stdout());
                    assertTrue(
                            result.stderr().contains("its certificate is not one that this user trusts"),
                            result.stderr());
                    assertTrue(result.stderr().contains("nothing was sent to it"), result.stderr());
                }
            }
        }
    }
}
