package org.nemorelay.admin.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.annotation.Annotation;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.admin.AdminClient;
import org.nemorelay.admin.AdminVerb;
import org.nemorelay.config.LaunchOptions;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.LogSettings;
import org.nemorelay.telemetry.ProcessEventLog;

/** The control socket by which {@code nemo-relay carriers} reaches a process of a fleet. */
class FleetSocketTest {
    private static final Duration TIME = Duration.ofSeconds(20);

    @TempDir
    Path home;

    private FleetSocket open(Path home) {
        return new FleetSocket(
                new Named("node-one"),
                new LaunchOptions("node", home, Map.of(), Map.of("HOME", home.toString())),
                ProcessEventLog.synchronous(LogSettings.DEFAULT));
    }

    private Path socket(Path home) {
        return AdminClient.fleetFolder(StateFolder.of(Map.of("HOME", home.toString())))
                .resolve("node-one.sock");
    }

    private static AdminVerb verb(String name, String answer) {
        return new AdminVerb() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public Map<String, Object> run(Map<String, Object> arguments) {
                return Map.of("answer", answer);
            }
        };
    }

    @Test
    void itIsTheOwnersAloneAndGoesWithTheProcess() throws Exception {
        FleetSocket socket = open(home);
        socket.addVerb(verb("carriers.status", "a"));
        Path file = socket(home);
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file.getParent())));
        assertEquals(
                "a",
                new AdminClient(file).call("carriers.status", Map.of(), TIME).string("answer"));
        socket.deactivate();
        assertFalse(Files.exists(file));
    }

    @Test
    void verbsComeAndGo() {
        FleetSocket socket = open(home);
        AdminVerb verb = verb("carriers.use", "done");
        AdminClient client = new AdminClient(socket(home));
        RelayException before = assertThrows(RelayException.class, () -> client.call("carriers.use", Map.of(), TIME));
        socket.addVerb(verb);
        assertEquals("done", client.call("carriers.use", Map.of(), TIME).string("answer"));
        socket.removeVerb(verb);
        RelayException after = assertThrows(RelayException.class, () -> client.call("carriers.use", Map.of(), TIME));
        assertEquals(before.kind(), after.kind());
        socket.deactivate();
        assertEquals(
                FailureKind.UNAVAILABLE,
                assertThrows(RelayException.class, () -> client.call("carriers.use", Map.of(), TIME))
                        .kind());
    }

    /** The process serves its fleet without it. */
    @Test
    void aPathThatIsTooLongIsNoFailure() {
        Path deep = home.resolve("d".repeat(200));
        FleetSocket socket = open(deep);
        socket.addVerb(verb("carriers.status", "a"));
        assertFalse(Files.exists(socket(deep)));
        socket.deactivate();
        assertTrue(Files.exists(home));
    }

    private record Named(String process) implements FleetSocket.Config {
        @Override
        public Class<? extends Annotation> annotationType() {
            return FleetSocket.Config.class;
        }
    }
}
