package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** At the limit of descriptors those who wait are refused, once told; nobody else loses a connection. */
class DescriptorReserveTest {
    private final AtomicInteger told = new AtomicInteger();
    private final DescriptorReserve reserve = new DescriptorReserve(told::incrementAndGet);
    /** An exception to be thrown, a channel, or a text for nobody. */
    private final Deque<Object> waiting = new ArrayDeque<>();

    @AfterEach
    void close() throws IOException {
        reserve.close();
    }

    private SocketChannel next() throws IOException {
        return reserve.next(() -> switch (waiting.remove()) {
            case IOException e -> throw e;
            case SocketChannel channel -> channel;
            default -> null;
        });
    }

    @Test
    void whoHasADescriptorIsTaken() throws IOException {
        try (SocketChannel first = SocketChannel.open()) {
            waiting.add(first);
            waiting.add("nobody");
            assertSame(first, next());
            assertTrue(first.isOpen());
            assertNull(next());
            assertEquals(0, told.get());
        }
    }

    @Test
    void atTheLimitThoseWhoWaitAreRefusedAndThatIsToldOnce() throws IOException {
        try (SocketChannel refused = SocketChannel.open();
                SocketChannel too = SocketChannel.open();
                SocketChannel later = SocketChannel.open()) {
            waiting.add(new IOException("Too many open files"));
            waiting.add(refused);
            waiting.add(new IOException("Too many open files"));
            waiting.add(too);
            waiting.add(later);
            assertSame(later, next());
            assertFalse(refused.isOpen());
            assertFalse(too.isOpen());
            assertTrue(later.isOpen());
            assertEquals(1, told.get());
        }
    }

    @Test
    void whatIsNoMatterOfDescriptorsIsLeftToTheCaller() {
        waiting.add(new ClosedChannelException());
        assertThrows(ClosedChannelException.class, this::next);
        waiting.add(new IOException("no"));
        waiting.add(new IOException("still no"));
        assertEquals("still no", assertThrows(IOException.class, this::next).getMessage());
        assertEquals(0, told.get());
    }
}
