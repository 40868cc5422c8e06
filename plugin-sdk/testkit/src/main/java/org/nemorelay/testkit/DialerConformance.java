package org.nemorelay.testkit;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.NoDialerException;
import org.nemorelay.seams.Registration;
import org.nemorelay.seams.carrier.Seam;

/** Connections to a node's own server (distributed-seams 7). */
public abstract class DialerConformance extends Conformance {
    @Override
    final Seam seam() {
        return Seam.DIAL;
    }

    private static Consumer<ByteChannel> echo(AtomicInteger connections) {
        return connection -> {
            connections.incrementAndGet();
            ByteBuffer buffer = ByteBuffer.allocate(4096);
            try {
                while (connection.read(buffer) >= 0) {
                    buffer.flip();
                    connection.write(buffer);
                    buffer.clear();
                }
            } catch (ClosedChannelException e) {
                connections.decrementAndGet();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        };
    }

    private ByteChannel dial(String nodeId) {
        return rig().here().dialers().dialerFor(nodeId).dial(Context.background(), rig().serverAddress());
    }

    private static byte[] read(ByteChannel channel, int length) throws IOException {
        ByteBuffer buffer = ByteBuffer.allocate(length);
        while (buffer.hasRemaining() && channel.read(buffer) >= 0) {}
        return buffer.array();
    }

    @Test
    void bytesGoBothWays() throws IOException {
        byte[] sent = new byte[300_000];
        new Random(3).nextBytes(sent);
        try (Registration _ = rig().serveConnections("n", echo(new AtomicInteger()));
                ByteChannel connection = dial("n")) {
            Thread writer = Thread.ofVirtual().start(() -> {
                try {
                    connection.write(ByteBuffer.wrap(sent));
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
            assertArrayEquals(sent, read(connection, sent.length));
            Await.until("written", () -> !writer.isAlive());
        }
    }

    @Test
    void aNodeWithoutADialerIsAnErrorOfItsOwn() {
        needs(Capability.ROUTES_BY_NODE);
        assertThrows(NoDialerException.class, () -> rig().here().dialers().dialerFor("unknown"));
    }

    @Test
    void nodesWithOneAddressKeepTheirConnections() throws IOException {
        needs(Capability.ROUTES_BY_NODE);
        AtomicInteger one = new AtomicInteger();
        AtomicInteger other = new AtomicInteger();
        try (Registration _ = rig().serveConnections("one", echo(one));
                Registration _ = rig().serveConnections("other", echo(other));
                ByteChannel toOne = dial("one")) {
            toOne.write(ByteBuffer.wrap(bytes("x")));
            assertEquals("x", text(read(toOne, 1)));
            assertEquals(1, one.get());
            assertEquals(0, other.get());
        }
    }

    @Test
    void forgettingANodeClosesItsConnectionsAndTheNextDialIsANewOne() throws IOException {
        AtomicInteger connections = new AtomicInteger();
        try (Registration _ = rig().serveConnections("n", echo(connections))) {
            ByteChannel first = dial("n");
            first.write(ByteBuffer.wrap(bytes("x")));
            assertEquals("x", text(read(first, 1)));
            rig().here().dialers().forgetNode("n");
            assertThrows(ClosedChannelException.class, () -> first.write(ByteBuffer.wrap(bytes("x"))));
            rig().here().dialers().forgetNode("n");
            try (ByteChannel second = dial("n")) {
                second.write(ByteBuffer.wrap(bytes("y")));
                assertEquals("y", text(read(second, 1)));
            }
        }
    }
}
