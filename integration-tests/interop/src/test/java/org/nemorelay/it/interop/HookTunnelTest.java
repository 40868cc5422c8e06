package org.nemorelay.it.interop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Maker;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Proc;
import org.nemorelay.it.Relay;
import org.nemorelay.it.SystemFolder;
import org.nemorelay.it.User;

/**
 * The hook of one maker through the tunnel of another's daemon. The daemon knows no token, so there is no other road for
 * either hook. Stock with stock shows that this bench itself works.
 */
class HookTunnelTest {
    private static final Duration LIMIT = Duration.ofSeconds(30);
    private static final byte[] HOOK = "{\"hook_event_name\":\"PreToolUse\"}".getBytes(StandardCharsets.UTF_8);

    @TempDir
    Path folder;

    private static Proc.Spec hook(User user, Maker maker, Relay relay) {
        return user.withToken(
                maker.executable().toString(), "daemon", "hook", "claude", "--daemon-address", relay.address());
    }

    private static void delivered(Proc.Result result) {
        assertEquals(0, result.exit(), result.stderr());
        assertEquals("{\"continue\":true}", result.stdout());
    }

    @ParameterizedTest(name = "{0} daemon, {1} hook")
    @CsvSource({"STOCK, STOCK", "OURS, STOCK", "STOCK, OURS", "OURS, OURS"})
    void theIdentityOfOneAccountIsThePin(Maker daemon, Maker hook) {
        User user = User.self(folder.resolve("home"));
        try (MockProvider provider = new MockProvider();
                Relay relay = Relay.start(user, daemon.executable(), Relay.upstream(provider))) {
            delivered(hook(user, hook, relay).run(HOOK, LIMIT));
        }
        // The other maker's daemon goes on with the same identity.
        Maker other = daemon == Maker.OURS ? Maker.STOCK : Maker.OURS;
        try (MockProvider provider = new MockProvider();
                Relay relay = Relay.start(user, other.executable(), Relay.upstream(provider))) {
            delivered(hook(user, hook, relay).run(HOOK, LIMIT));
        }
    }

    @ParameterizedTest(name = "{0} daemon, {1} hook")
    @CsvSource({"STOCK, STOCK", "OURS, STOCK", "STOCK, OURS", "OURS, OURS"})
    void thePublishedCertificateIsThePinOfOtherAccounts(Maker daemon, Maker hook) throws Exception {
        SystemFolder system = SystemFolder.create(folder.resolve("system"), "", "version = 1\n");
        UnaryOperator<Proc.Spec> around = system::around;
        User service = User.self(folder.resolve("service"));
        User user = User.self(folder.resolve("home"));
        Proc.Result certificate = service.spec(daemon.executable().toString(), "daemon", "tls-certificate")
                .run(LIMIT);
        assertEquals(0, certificate.exit(), certificate.stderr());
        try (MockProvider provider = new MockProvider();
                Relay relay = Relay.start(service, daemon.executable(), Relay.upstream(provider))) {
            Proc.Result unknown = around.apply(hook(user, hook, relay)).run(HOOK, LIMIT);
            assertEquals(2, unknown.exit(), unknown.stderr());
            Path published = folder.resolve("system/etc/hook-tls-certificate.pem");
            Files.writeString(published, certificate.stdout());
            Files.setPosixFilePermissions(published, PosixFilePermissions.fromString("rw-r--r--"));
            delivered(around.apply(hook(user, hook, relay)).run(HOOK, LIMIT));
        }
    }

    @Test
    void bothMakersPrintTheSameCertificateOfOneAccount() {
        User user = User.self(folder.resolve("home"));
        String ours = certificate(user, Maker.OURS);
        assertTrue(ours.startsWith("-----BEGIN CERTIFICATE-----\n"), ours);
        assertEquals(ours, certificate(user, Maker.STOCK));
    }

    private static String certificate(User user, Maker maker) {
        Proc.Result result = user.spec(maker.executable().toString(), "daemon", "tls-certificate")
                .run(LIMIT);
        assertEquals(0, result.exit(), result.stderr());
        return result.stdout();
    }
}
