package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.identity.DrainingWorker;
import org.nemorelay.identity.EffectiveUser;
import org.nemorelay.identity.PrivateFiles;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.protocol.control.ServerEvent;

/**
 * A replacement waits for the exit of a draining worker, whichever daemon process decided the drain, and though the worker
 * died before it knew: what is seen on loopback counts, a cut link does not.
 */
class DrainAcrossRestartTest {
    private final AtomicReference<PrivateFiles.Disk> disk = new AtomicReference<>(channel -> channel.force(true));
    private TestDaemon daemon;
    private FakeServer data;
    private TestDaemon.User ann;
    private TestDaemon.Mcp mcp;
    private TestDaemon.Worker worker;

    @BeforeEach
    void aReadyWorker() throws Exception {
        daemon = new TestDaemon();
        daemon.record = (folder, port) -> folder.generations(
                port,
                new PrivateFiles(EffectiveUser.current(), channel -> disk.get().sync(channel)));
        daemon.start();
        data = new FakeServer("worker");
        ann = daemon.user("ann");
        mcp = ann.mcp();
        worker = daemon.new Worker(ann, data)
                .register(mcp.await(Directive.LaunchWorker.class).grant())
                .ready();
    }

    @AfterEach
    void close() throws IOException {
        daemon.close();
        data.close();
    }

    private List<DrainingWorker> draining() {
        return daemon.generations().draining();
    }

    private long count(String event) {
        return daemon.events.stream().filter(line -> line.startsWith(event)).count();
    }

    private void beginDrain() {
        mcp.release();
        TestDaemon.await("the drain is on record", () -> draining().size() == 1);
        DrainingWorker record = draining().getFirst();
        assertEquals(worker.id, record.workerId());
        assertEquals(data.url(), record.endpoint());
        long left = record.untilUnixMs() - System.currentTimeMillis();
        assertTrue(left > 100_000 && left <= 120_000, () -> "left: " + left);
    }

    /** It never heard of its drain, as the daemon that decided it was killed at once. */
    @Test
    void aRestartedDaemonTellsTheWorkerAgainAndWaitsForItsExit() throws Exception {
        worker.close();
        beginDrain();
        daemon.restart();
        TestDaemon.Mcp next = ann.mcp();
        assertEquals(new Directive.WaitForWorker(100), next.await(Directive.WaitForWorker.class));
        worker.recover();
        ServerEvent.Drain drain = worker.drains.poll(10, TimeUnit.SECONDS);
        assertEquals(worker.id, drain.workerId());
        assertTrue(drain.timeoutMs() > 90_000 && drain.timeoutMs() <= 120_000, drain::toString);
        assertThrows(RelayException.class, worker::ready, "a draining worker is never ready");
        assertEquals(0, count("worker_relaunch_requested"), daemon.events::toString);
        worker.close();
        next.await(Directive.LaunchWorker.class);
        TestDaemon.await("nothing is left on record", () -> draining().isEmpty());
        assertTrue(count("worker_removed") == 1, daemon.events::toString);
    }

    /** It knew, and ended by itself while no daemon was there. */
    @Test
    void aWorkerThatEndedWithoutADaemonHasExitedWhenNothingListensWhereItDid() throws Exception {
        beginDrain();
        int port = daemon.port();
        daemon.stop();
        worker.close();
        data.close();
        TestDaemon.Mcp next;
        try (ServerSocket held = new ServerSocket(data.port(), 50, InetAddress.getLoopbackAddress())) {
            daemon.settings.put("port", port);
            daemon.start();
            next = ann.mcp();
            next.await(Directive.WaitForWorker.class);
            for (int look = 0; look < 3; look++) {
                held.accept().close();
            }
            assertEquals(0, count("worker_relaunch_requested"), "its port is held, so its plugins may still run");
        }
        next.await(Directive.LaunchWorker.class);
        TestDaemon.await("nothing is left on record", () -> draining().isEmpty());
    }

    /** It died, and its session left before the grace was over: until now its route was kept for two minutes. */
    @Test
    void aWorkerThatDiedBeforeItsDrainIsReplacedInSeconds() throws Exception {
        data.close();
        worker.close();
        TestDaemon.await("its connection is gone", () -> count("worker_control_disconnected") == 1);
        mcp.release();
        TestDaemon.Mcp next = ann.mcp();
        long start = System.nanoTime();
        next.await(Directive.LaunchWorker.class);
        assertTrue(System.nanoTime() - start < 15_000_000_000L);
    }

    @Test
    void theDrainIsOnRecordBeforeTheWorkerHearsOfIt() throws Exception {
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        disk.set(channel -> {
            writing.countDown();
            try {
                finish.await(30, TimeUnit.SECONDS);
            } catch (InterruptedException e) {
                throw new IOException("interrupted", e);
            }
        });
        mcp.release();
        assertTrue(writing.await(10, TimeUnit.SECONDS));
        assertTrue(worker.drains.isEmpty());
        finish.countDown();
        assertEquals(worker.id, worker.drains.poll(10, TimeUnit.SECONDS).workerId());
        assertEquals(1, draining().size());
    }

    @Test
    void aWorkerIsToldOfItsDrainThoughTheDiskIsFull() throws Exception {
        disk.set(channel -> {
            throw new IOException("No space left on device");
        });
        mcp.release();
        assertEquals(worker.id, worker.drains.poll(10, TimeUnit.SECONDS).workerId());
        assertFalse(count("worker_generation_revocation_failed") == 0, daemon.events::toString);
    }
}
