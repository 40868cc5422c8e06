package org.nemorelay.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.nemorelay.protocol.DaemonUrl;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.WorkerNetwork;

class NetworkHintTest {
    private static final DaemonUrl LOCAL = DaemonUrl.parse("http://localhost:47632");
    private static final DaemonUrl REMOTE = DaemonUrl.parse("https://192.0.2.1:47632");

    @Test
    void aLocalDaemonMeansLoopback() {
        assertEquals(new NetworkHint("127.0.0.1", OptionalInt.empty()), NetworkHint.of(LOCAL, Map.of()));
        assertEquals(
                new NetworkHint("127.0.0.1", OptionalInt.of(4711)),
                NetworkHint.of(LOCAL, Map.of(NetworkHint.PORT_VARIABLE, " 4711 ")));
    }

    @Test
    void theEnvironmentDecides() {
        assertEquals(
                "worker.example.com",
                NetworkHint.of(REMOTE, Map.of(NetworkHint.ADDRESS_VARIABLE, "Worker.Example.com"))
                        .advertisedHost());
    }

    @Test
    void aRemoteDaemonSeesAnAddressOfThisMachine() {
        try {
            String host = NetworkHint.of(REMOTE, Map.of()).advertisedHost();
            assertEquals(Optional.empty(), WorkerNetwork.hostProblem(host));
        } catch (RelayException e) {
            assertEquals(FailureKind.UNAVAILABLE, e.kind()); // a machine without a route
        }
    }

    /** That the name is not found is said where it was not, and only there. */
    @Test
    void aNameThatIsNotFoundIsSaid() {
        RelayException failure = assertThrows(
                RelayException.class,
                () -> NetworkHint.of(DaemonUrl.parse("https://no-such-host.invalid:47632"), Map.of()));
        assertEquals(FailureKind.UNAVAILABLE, failure.kind());
        assertTrue(
                failure.getMessage().startsWith("the address of the daemon's host cannot be found: "),
                failure.getMessage());
    }

    @Test
    void valuesThatCannotBe() {
        assertRefused(REMOTE, NetworkHint.ADDRESS_VARIABLE, "127.0.0.1");
        assertRefused(REMOTE, NetworkHint.ADDRESS_VARIABLE, "localhost");
        assertRefused(LOCAL, NetworkHint.ADDRESS_VARIABLE, "0.0.0.0");
        assertRefused(LOCAL, NetworkHint.ADDRESS_VARIABLE, "a b");
        assertRefused(LOCAL, NetworkHint.PORT_VARIABLE, "0");
        assertRefused(LOCAL, NetworkHint.PORT_VARIABLE, "65536");
        assertRefused(LOCAL, NetworkHint.PORT_VARIABLE, "x");
    }

    private static void assertRefused(DaemonUrl daemon, String variable, String value) {
        RelayException failure =
                assertThrows(RelayException.class, () -> NetworkHint.of(daemon, Map.of(variable, value)));
        assertEquals(FailureKind.CONFIGURATION, failure.kind());
        assertTrue(failure.getMessage().contains(variable));
    }
}
