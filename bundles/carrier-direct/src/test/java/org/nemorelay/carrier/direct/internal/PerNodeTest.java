package org.nemorelay.carrier.direct.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.backend.echo.EchoBackend;
import org.nemorelay.backend.echo.GrpcBackendServer;
import org.nemorelay.files.FileAreas;
import org.nemorelay.files.FileServer;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoDialerException;
import org.nemorelay.seams.RefusedException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.SeamException;
import org.nemorelay.seams.dial.BackendClient;
import org.nemorelay.seams.staging.TransferProgress;

/** Everything that is open belongs to a node: also where two nodes report one address (seed, open items 3 and 4). */
class PerNodeTest {
    private static final Context CONTEXT = Context.background();

    @TempDir
    Path folder;

    private static void health(BackendClient client) {
        client.call(CONTEXT.withTimeout(Duration.ofSeconds(10)), "Health", new byte[0]);
    }

    @Test
    void twoNodesWithOneAddressKeepTwoChannels() throws IOException {
        DirectCarrier carrier = new DirectCarrier("direct", "", Map.of());
        try (GrpcBackendServer server = GrpcBackendServer.open(
                        new InetSocketAddress("127.0.0.1", 0), new EchoBackend(Duration.ZERO), "");
                BackendClient one = carrier.backendClients().newClient("one", "127.0.0.1:" + server.port(), true);
                BackendClient other = carrier.backendClients().newClient("other", "127.0.0.1:" + server.port(), true);
                BackendClient again = carrier.backendClients().newClient("one", "127.0.0.1:" + server.port(), true)) {
            health(one);
            health(other);
            health(again);
            assertEquals(2, carrier.kept(), "clients of one node share a channel, clients of two do not");
            carrier.dialers().forgetNode("one");
            assertEquals(1, carrier.kept());
            health(other);
            health(one);
            assertEquals(2, carrier.kept(), "a node that comes back is dialled anew");
        } finally {
            carrier.close();
        }
    }

    @Test
    void theLastClientTakesTheChannelAlong() throws IOException {
        DirectCarrier carrier = new DirectCarrier("direct", "", Map.of());
        try (GrpcBackendServer server =
                GrpcBackendServer.open(new InetSocketAddress("127.0.0.1", 0), new EchoBackend(Duration.ZERO), "")) {
            BackendClient client = carrier.backendClients().newClient("one", "127.0.0.1:" + server.port(), true);
            health(client);
            client.close();
            client.close();
            assertEquals(0, carrier.kept());
        } finally {
            carrier.close();
        }
    }

    @Test
    void aCallerWithoutTheTokenIsRefusedByTheBackend() throws IOException {
        DirectCarrier carrier = new DirectCarrier("direct", "another", Map.of());
        try (GrpcBackendServer server = GrpcBackendServer.open(
                        new InetSocketAddress("127.0.0.1", 0), new EchoBackend(Duration.ZERO), "secret");
                BackendClient client = carrier.backendClients().newClient("n", "127.0.0.1:" + server.port(), true)) {
            RefusedException refused = assertThrows(RefusedException.class, () -> health(client));
            assertEquals("UNAUTHENTICATED", refused.code());
            assertFalse(refused.getMessage().contains("another"), refused.getMessage());
        } finally {
            carrier.close();
        }
    }

    @Test
    void openItem3_fileClientsAreKeptByNodeAndForgotten() throws IOException {
        DirectCarrier carrier = new DirectCarrier("direct", "", Map.of());
        Path file = Files.writeString(folder.resolve("file"), "content");
        try (Listening server = new Listening(0, new FileServer(FileAreas.below(folder), "", () -> true)::serve)) {
            carrier.addAddresses(node -> Optional.of("127.0.0.1:" + server.port()));
            for (String node : new String[] {"one", "other", "one"}) {
                carrier.stager().ensureRemote(CONTEXT, node, file, "models/" + node, TransferProgress.none());
            }
            assertEquals(2, carrier.kept());
            assertEquals(2, server.connections(), "two nodes, one connection each, though the address is the same");
            carrier.dialers().forgetNode("one");
            carrier.dialers().forgetNode("other");
            assertEquals(0, carrier.kept());
        } finally {
            carrier.close();
        }
    }

    @Test
    void openItem4_aNodeWithoutAnAddressHasNoDialerAndThatIsNotNoRoute() throws IOException {
        DirectCarrier carrier = new DirectCarrier("direct", "", Map.of());
        Path file = Files.writeString(folder.resolve("file"), "content");
        try {
            SeamException thrown = assertThrows(
                    SeamException.class,
                    () -> carrier.stager().ensureRemote(CONTEXT, "n", file, "k", TransferProgress.none()));
            assertInstanceOf(NoDialerException.class, thrown);
            assertThrows(NoDialerException.class, () -> carrier.stager().allocRemoteTemp(CONTEXT, "n"));
            assertThrows(NoDialerException.class, () -> carrier.stager().listRemoteDir(CONTEXT, "n", "x"));
            assertThrows(NoDialerException.class, () -> carrier.stager().releaseRemote(CONTEXT, "n", "x"));
            assertThrows(
                    NoDialerException.class,
                    () -> carrier.stager().fetchRemote(CONTEXT, "n", "x", folder.resolve("y")));
            assertThrows(
                    NoDialerException.class,
                    () -> carrier.stager().fetchRemoteByKey(CONTEXT, "n", "x", folder.resolve("y")));
            assertThrows(
                    NoDialerException.class,
                    () -> carrier.stager().releaseRemoteRequest(CONTEXT, "n", "r", List.of("x")));
            assertEquals(0, carrier.kept(), "nothing is kept of a node that nobody knows");
        } finally {
            carrier.close();
        }
    }

    @Test
    void nothingIsLeftAfterTheCarrier() throws IOException {
        int before = nettyThreads();
        for (int i = 0; i < 3; i++) {
            DirectCarrier carrier = new DirectCarrier("direct", "", Map.of());
            try (GrpcBackendServer server = GrpcBackendServer.open(
                            new InetSocketAddress("127.0.0.1", 0), new EchoBackend(Duration.ZERO), "");
                    BackendClient client =
                            carrier.backendClients().newClient("one", "127.0.0.1:" + server.port(), true);
                    Registration _ = carrier::close) {
                health(client);
            }
        }
        org.nemorelay.testkit.Await.until(
                "the threads of carriers and servers are gone", () -> nettyThreads() <= before);
    }

    private static int nettyThreads() {
        return (int) Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().contains("EventLoopGroup"))
                .count();
    }
}
