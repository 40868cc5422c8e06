package org.nemorelay.admin.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.admin.AdminClient;
import org.nemorelay.admin.AdminVerb;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.protocol.FailureKind;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.telemetry.LogSettings;
import org.nemorelay.telemetry.ProcessEventLog;

class AdminServerTest {
    private static final Duration TIME = Duration.ofSeconds(20);

    @TempDir
    Path folder;

    private Path socket;
    private UserPrincipal me;
    private final Map<String, AdminVerb> verbs = new ConcurrentHashMap<>();

    @BeforeEach
    void owner() throws IOException {
        socket = folder.resolve("admin-1.sock");
        me = Files.getOwner(folder);
        verb("echo", arguments -> Map.of("arguments", arguments));
    }

    private void verb(String name, Function<Map<String, Object>, Map<String, Object>> body) {
        verbs.put(name, new AdminVerb() {
            @Override
            public String name() {
                return name;
            }

            @Override
            public Map<String, Object> run(Map<String, Object> arguments) {
                return body.apply(arguments);
            }
        });
    }

    private AdminServer open(Path path) throws IOException {
        return AdminServer.open(path, me, verbs, ProcessEventLog.synchronous(LogSettings.DEFAULT));
    }

    private RelayException failure(String verb) {
        return assertThrows(RelayException.class, () -> new AdminClient(socket).call(verb, Map.of(), TIME));
    }

    @Test
    void answersTheOwnerAndLeavesNoFileBehind() throws IOException {
        try (AdminServer _ = open(socket)) {
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(socket)));
            Map<String, Object> arguments = Map.of("a", List.of(1L, "x\ny"));
            assertEquals(
                    Map.of("arguments", arguments),
                    new AdminClient(socket).call("echo", arguments, TIME).values());
        }
        assertFalse(Files.exists(socket));
    }

    @Test
    void failuresKeepTheirKind() throws IOException {
        verb("busy", _ -> {
            throw new RelayException(FailureKind.CONFLICT, "draining already");
        });
        verb("broken", _ -> {
            throw new IllegalStateException("secret");
        });
        try (AdminServer _ = open(socket)) {
            assertEquals(FailureKind.CONFLICT, failure("busy").kind());
            assertEquals("draining already", failure("busy").getMessage());
            assertEquals("the verb failed; the log says why", failure("broken").getMessage());
            assertEquals(FailureKind.NOT_FOUND, failure("nope").kind());
            assertEquals(
                    "unknown verb \"nope\"; known: broken, busy, echo",
                    failure("nope").getMessage());
        }
    }

    @Test
    void anotherUserIsRefused() throws IOException {
        UserPrincipal nobody =
                folder.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName("nobody");
        try (AdminServer _ =
                AdminServer.open(socket, nobody, verbs, ProcessEventLog.synchronous(LogSettings.DEFAULT))) {
            assertEquals(FailureKind.UNAUTHORIZED, failure("echo").kind());
        }
    }

    @Test
    void staleSocketIsReplacedAndALiveOneIsNot() throws IOException {
        try (ServerSocketChannel dead = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            dead.bind(UnixDomainSocketAddress.of(socket));
        }
        assertTrue(Files.exists(socket));
        try (AdminServer _ = open(socket)) {
            assertEquals(
                    "another process answers there",
                    assertThrows(IOException.class, () -> open(socket)).getMessage());
            new AdminClient(socket).call("echo", Map.of(), TIME);
        }
    }

    /** Each is asked by itself, and neither takes away the other's file. */
    @Test
    void aSuccessorHasTheNameAtOnceWhenADaemonBeginsToStop() throws Exception {
        StateFolder state = StateFolder.at(folder);
        Files.createDirectory(state.daemon());
        Path name = AdminClient.socket(state, 1);
        Map<String, AdminVerb> others = new HashMap<>();
        try (AdminServer successor = stoppedBeside(state, name, others)) {
            assertEquals(List.of(), AdminClient.stopping(state, 1));
            assertTrue(Files.exists(name), "the successor's");
            successor.moveAside();
            assertEquals(1, AdminClient.stopping(state, 1).size());
        }
        assertEquals(List.of(), AdminClient.stopping(state, 1));
    }

    private AdminServer stoppedBeside(StateFolder state, Path name, Map<String, AdminVerb> others) throws Exception {
        try (AdminServer old = open(name)) {
            old.moveAside();
            assertFalse(Files.exists(name));
            assertEquals(List.of(), AdminClient.stopping(state, 11), "of another port");
            Path aside = AdminClient.stopping(state, 1).getFirst();
            assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(aside)));
            AdminServer successor =
                    AdminServer.open(name, me, others, ProcessEventLog.synchronous(LogSettings.DEFAULT));
            new AdminClient(aside).call("echo", Map.of(), TIME);
            assertThrows(RelayException.class, () -> new AdminClient(name).call("echo", Map.of(), TIME));
            return successor;
        }
    }

    @Test
    void twoDaemonsHaveASocketEach() throws IOException {
        Map<String, AdminVerb> others = new HashMap<>();
        Path other = folder.resolve("admin-2.sock");
        try (AdminServer _ = open(socket);
                AdminServer _ = AdminServer.open(other, me, others, ProcessEventLog.synchronous(LogSettings.DEFAULT))) {
            new AdminClient(socket).call("echo", Map.of(), TIME);
            assertThrows(RelayException.class, () -> new AdminClient(other).call("echo", Map.of(), TIME));
        }
    }

    @Test
    void nobodyThereIsSaidAsSuch() {
        assertEquals(FailureKind.UNAVAILABLE, failure("echo").kind());
    }

    @Test
    void silenceEndsAtTheTimeout() throws IOException {
        CountDownLatch release = new CountDownLatch(1);
        verb("slow", _ -> {
            try {
                release.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            return Map.of();
        });
        try (AdminServer _ = open(socket)) {
            RelayException failure = assertThrows(
                    RelayException.class, () -> new AdminClient(socket).call("slow", Map.of(), Duration.ofMillis(50)));
            assertEquals(FailureKind.TIMEOUT, failure.kind());
            release.countDown();
        }
    }

    @Test
    void garbageIsAnsweredAndIdleConnectionsDoNotShutTheDoor() throws IOException {
        try (AdminServer _ = open(socket);
                SocketChannel garbage = SocketChannel.open(UnixDomainSocketAddress.of(socket));
                SocketChannel _ = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
            Lines.write(garbage, "{nope");
            assertTrue(Lines.read(garbage, 1_000).startsWith("{\"ok\":false,\"error\":{\"kind\":\"invalid_argument\""));
            new AdminClient(socket).call("echo", Map.of(), TIME);
        }
    }

    @Test
    void aPathTooLongForASocketIsNamed() {
        Path deep = folder.resolve("x".repeat(120)).resolve("admin-1.sock");
        assertTrue(
                assertThrows(IOException.class, () -> open(deep)).getMessage().startsWith("the path is longer than"));
    }
}
