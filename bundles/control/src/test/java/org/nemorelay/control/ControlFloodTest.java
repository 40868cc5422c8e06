package org.nemorelay.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.SessionPayload;

/** A daemon that says more than anybody can hear, or hears nothing: nothing piles up, and nobody waits for ever. */
@Timeout(120)
class ControlFloodTest {
    private static final int FLOOD = 100_000;
    private static final long HEAP_LIMIT = 16L << 20;
    private static final Directive DIRECTIVE = new Directive.ReuseWorker("http://127.0.0.1:1/" + "x".repeat(500));

    @TempDir
    Path temp;

    private FakeDaemon daemon;
    private final AtomicInteger heard = new AtomicInteger();
    private final AtomicInteger ends = new AtomicInteger();
    private volatile int room = Integer.MAX_VALUE;

    @BeforeEach
    void start() throws IOException {
        daemon = new FakeDaemon(temp.resolve("daemon"));
    }

    @AfterEach
    void stop() {
        daemon.close();
    }

    private ControlSession register() {
        return daemon.registered(temp.resolve("user"), 5, new ControlListener() {
            @Override
            public boolean directive(Directive directive) {
                return heard.incrementAndGet() <= room;
            }

            @Override
            public void disconnected() {
                ends.incrementAndGet();
            }
        });
    }

    private Thread flood() {
        return flood(FLOOD);
    }

    /** @param ahead how many may be without an acknowledgement: where both sides write and neither reads, nothing moves */
    private Thread flood(int ahead) {
        return Thread.ofPlatform().daemon().start(() -> {
            for (int i = 0; i < FLOOD && daemon.liveConnections() > 0; i++) {
                while (i - daemon.acknowledgements() > ahead) {
                    Thread.onSpinWait();
                }
                daemon.push(DIRECTIVE);
            }
        });
    }

    private static long heap() {
        System.gc();
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    @Test
    void aHundredThousandDirectivesAreHeardAndLeaveNothing() throws Exception {
        ControlSession session = register();
        long before = heap();
        flood(500).join();
        FakeDaemon.await("all are acknowledged", () -> daemon.acknowledgements() == FLOOD + 1);
        assertEquals(FLOOD + 1, heard.get());
        long grown = heap() - before;
        assertTrue(grown < HEAP_LIMIT, () -> "the heap has grown by " + grown + " bytes");
        session.request(new SessionPayload.Release());
        session.close();
    }

    @Test
    void whereThereIsNoMoreRoomTheConnectionEnds() throws Exception {
        room = ControlListener.MAX_QUEUED;
        ControlSession session = register();
        flood().join();
        FakeDaemon.await("the end", () -> ends.get() == 1);
        assertFalse(session.connected());
        assertEquals(ControlListener.MAX_QUEUED + 1, heard.get());
    }

    /** Its own acknowledgements fill the network's buffers then, and a request waits no longer than it may. */
    @Test
    void aDaemonThatHearsNothingHoldsNobodyUp() throws Exception {
        ControlSession session = register();
        daemon.deaf = true;
        long before = heap();
        flood();
        FakeDaemon.await("the buffers are full", this::hearsNoMore);
        long grown = heap() - before;
        assertTrue(grown < HEAP_LIMIT, () -> "the heap has grown by " + grown + " bytes");
        long start = System.nanoTime();
        assertThrows(RelayException.class, () -> session.request(new SessionPayload.Release(), 300));
        long took = (System.nanoTime() - start) / 1_000_000;
        assertTrue(took < 3_000, took + " ms");
        FakeDaemon.await("the end", () -> ends.get() == 1);
    }

    private boolean hearsNoMore() {
        int soFar = heard.get();
        try {
            Thread.sleep(200);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return soFar > 1_000 && soFar == heard.get();
    }
}
