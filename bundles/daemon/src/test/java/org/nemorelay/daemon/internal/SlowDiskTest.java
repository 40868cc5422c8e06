package org.nemorelay.daemon.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.nemorelay.identity.EffectiveUser;
import org.nemorelay.identity.Generation;
import org.nemorelay.identity.GenerationFile;
import org.nemorelay.identity.PrivateFiles;
import org.nemorelay.identity.StateFolder;
import org.nemorelay.protocol.Directive;
import org.nemorelay.protocol.control.SessionPayload;

/** A disk that is slow, locked or full keeps neither a stream nor a health check waiting. */
class SlowDiskTest {
    private static final long EVENT_MS = 5;

    private final AtomicReference<PrivateFiles.Disk> disk = new AtomicReference<>(channel -> channel.force(true));
    private FakeServer provider;
    private FakeServer data;
    private TestDaemon daemon;
    private TestDaemon.User ann;

    @BeforeEach
    void start() throws IOException {
        provider = new FakeServer("provider");
        data = new FakeServer("worker");
        daemon = new TestDaemon().with("anthropic_base_url", provider.url());
        daemon.record = this::record;
        daemon.start();
        ann = daemon.user("ann");
    }

    private GenerationFile record(StateFolder folder, int port) {
        return folder.generations(
                port,
                new PrivateFiles(EffectiveUser.current(), channel -> disk.get().sync(channel)));
    }

    @AfterEach
    void stop() throws IOException {
        disk.set(FileChannel::isOpen);
        daemon.close();
        data.close();
        provider.close();
    }

    private TestDaemon.Worker launch(TestDaemon.User user, TestDaemon.Mcp mcp) throws InterruptedException {
        return daemon.new Worker(user, data)
                .register(mcp.await(Directive.LaunchWorker.class).grant());
    }

    /** The longest silence of a stream, and the 99th percentile of {@code /healthz}, in microseconds. */
    private record Measured(long gap, long health) {}

    private Measured measure(long millis) throws Exception {
        AtomicBoolean over = new AtomicBoolean();
        provider.answer = exchange -> events(exchange, over);
        long gap = 0;
        long[] health = new long[100_000];
        int n = 0;
        try (RawHttp stream = new RawHttp(daemon.port());
                RawHttp check = new RawHttp(daemon.port())) {
            stream.send(RawHttp.post("/v1/messages", "{}"));
            assertEquals(200, stream.head().status());
            stream.chunk();
            long end = System.nanoTime() + millis * 1_000_000;
            long last = System.nanoTime();
            while (last < end) {
                assertTrue(stream.chunk().startsWith("event"));
                long now = System.nanoTime();
                gap = Math.max(gap, now - last);
                assertEquals(200, check.exchange(RawHttp.get("/healthz")).status());
                last = System.nanoTime();
                health[n++] = last - now;
            }
        } finally {
            over.set(true);
        }
        Arrays.sort(health, 0, n);
        return new Measured(gap / 1_000, health[n * 99 / 100] / 1_000);
    }

    private static void events(HttpExchange exchange, AtomicBoolean over) throws IOException {
        exchange.sendResponseHeaders(200, 0);
        try {
            while (!over.get()) {
                exchange.getResponseBody().write("event".getBytes(StandardCharsets.UTF_8));
                exchange.getResponseBody().flush();
                Thread.sleep(EVENT_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        exchange.close();
    }

    @Test
    void streamsAndHealthStayWhatTheyWereWhileAWriteTakesTenSeconds() throws Exception {
        measure(1_500);
        Measured before = measure(2_000);
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        AtomicInteger syncs = new AtomicInteger();
        disk.set(channel -> {
            syncs.incrementAndGet();
            writing.countDown();
            slowly(finish);
            channel.force(true);
        });
        TestDaemon.Mcp mcp = ann.mcp();
        TestDaemon.Worker worker = launch(ann, mcp);
        Thread ready = Thread.ofVirtual().start(worker::ready);
        assertTrue(writing.await(10, TimeUnit.SECONDS), "the publication is being written");
        // The lock of the file is held all the while, and more is asked for.
        TestDaemon.User bob = daemon.user("bob");
        TestDaemon.Mcp other = bob.mcp();
        TestDaemon.Worker second = launch(bob, other);
        Thread alsoReady = Thread.ofVirtual().start(second::ready);
        Measured during = measure(10_000);
        assertEquals(1, syncs.get(), "ten seconds of one write");
        finish.countDown();
        // A write on the way of a stream or of a check, or of the thread they share, is one silence of the ten seconds
        // that it
        // takes here: right and wrong are a factor of twenty apart, and what lies between is how busy the machine is.
        // One
        // check in a hundred may wait so, but no check that waited for the disk would leave time for a hundred others.
        assertTrue(during.gap() <= before.gap() * 3 + 400_000, () -> "stream gap " + before + " -> " + during);
        assertTrue(during.health() <= before.health() * 3 + 50_000, () -> "health " + before + " -> " + during);
        System.out.println("slow disk: before " + before + ", during " + during + " (microseconds)");
        ready.join(20_000);
        alsoReady.join(20_000);
        mcp.await(Directive.ReuseWorker.class);
        other.await(Directive.ReuseWorker.class);
        String token = ann.header();
        assertEquals(
                "worker",
                RawHttp.once(daemon.port(), RawHttp.post("/v1/messages", "{}", token))
                        .body());
    }

    @Test
    void case75CommunicationFailureDoesNotWaitForTheDisk() throws Exception {
        TestDaemon.Mcp mcp = ann.mcp();
        launch(ann, mcp).ready();
        CountDownLatch finish = new CountDownLatch(1);
        CountDownLatch writing = new CountDownLatch(1);
        disk.set(channel -> {
            writing.countDown();
            slowly(finish);
        });
        try (FakeServer other = new FakeServer("other")) {
            TestDaemon.User bob = daemon.user("bob");
            TestDaemon.Worker second = daemon.new Worker(bob, other)
                    .register(bob.mcp().await(Directive.LaunchWorker.class).grant());
            Thread ready = Thread.ofVirtual().start(second::ready);
            assertTrue(writing.await(10, TimeUnit.SECONDS));
            data.close();
            String request = RawHttp.post("/v1/messages", "{}", ann.header());
            assertEquals(502, RawHttp.once(daemon.port(), request).status());
            TestDaemon.await("requests pass by the worker", () -> status(request) == 200);
            finish.countDown();
            ready.join(20_000);
        }
    }

    private int status(String request) {
        try {
            return RawHttp.once(daemon.port(), request).status();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void case86ReadyAgainOnAnotherSocketPublishesOnceAndItsRecordStays() throws Exception {
        CountDownLatch writing = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        FramePeer session = FramePeer.mcp(daemon).registered();
        FramePeer first = FramePeer.worker(daemon, session.key).registered(data.url(), session.launch.orElseThrow());
        disk.set(channel -> {
            writing.countDown();
            slowly(finish);
        });
        first.socket.send(FramePeer.encode(first.session(new SessionPayload.Ready(first.id))));
        assertTrue(writing.await(10, TimeUnit.SECONDS));
        FramePeer second = new FramePeer(daemon, true, session.key, "127.0.0.1");
        second.id = first.id;
        second.registered(data.url(), session.launch.orElseThrow());
        assertEquals(first.generation, second.generation, "the grant is replayed");
        Thread over = Thread.ofVirtual().start(() -> {
            TestDaemon.await("the second probe is answered", () -> data.seen.size() == 2);
            finish.countDown();
        });
        assertEquals(
                204,
                second.ask(second.session(new SessionPayload.Ready(second.id))).status());
        over.join();
        TestDaemon.await("it is published", () -> published() > 0);
        daemon.stop(); // after the last write
        assertEquals(1, published(), daemon.events::toString);
        assertEquals(
                List.of(second.generation.orElseThrow().generationId()),
                daemon.generations().snapshot().stream()
                        .map(generation -> generation.generationId())
                        .toList());
        session.close();
        first.close();
        second.close();
        daemon.start();
    }

    private long published() {
        return daemon.events.stream()
                .filter(event -> event.startsWith("worker_added"))
                .count();
    }

    private static void slowly(CountDownLatch finish) throws IOException {
        try {
            finish.await(30, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    @Test
    void aFullDiskIsNamedAndStopsNoStream() throws Exception {
        failure("No space left on device");
    }

    @Test
    void aReadOnlyFolderIsNamedAndStopsNoStream() throws Exception {
        failure("Read-only file system");
    }

    /** The last session leaves while the disk is full: the record must not stay, or the worker could return after a restart. */
    @Test
    void aRevocationIsTriedAgainUntilItIsWritten() throws Exception {
        TestDaemon.Mcp mcp = ann.mcp();
        TestDaemon.Worker worker = launch(ann, mcp).ready();
        assertEquals(1, saved().size());
        disk.set(channel -> {
            throw new IOException("No space left on device");
        });
        mcp.release();
        TestDaemon.await(
                () -> "two attempts are logged: " + daemon.events,
                () -> daemon.events.stream()
                                .filter(event -> event.startsWith("worker_generation_revocation_failed"))
                                .count()
                        > 1);
        assertEquals(1, saved().size());
        disk.set(channel -> channel.force(true));
        TestDaemon.await(() -> "the generation is gone: " + daemon.events, () -> saved().isEmpty());
        worker.close();
    }

    private List<Generation> saved() {
        return daemon.generations().snapshot();
    }

    private void failure(String reason) throws Exception {
        disk.set(channel -> {
            throw new IOException(reason);
        });
        TestDaemon.Mcp mcp = ann.mcp();
        TestDaemon.Worker worker = launch(ann, mcp);
        AtomicBoolean over = new AtomicBoolean();
        provider.answer = exchange -> events(exchange, over);
        try (RawHttp stream = new RawHttp(daemon.port())) {
            stream.send(RawHttp.post("/v1/messages", "{}", ann.header()));
            assertEquals(200, stream.head().status());
            Thread.ofVirtual().start(() -> {
                try {
                    worker.ready();
                } catch (RuntimeException e) {
                    // The refusal is in the log.
                }
            });
            mcp.await(Directive.UsePassThrough.class);
            List<String> named = daemon.events.stream()
                    .filter(event -> event.startsWith("worker_generation_publication_failed"))
                    .toList();
            assertEquals(1, named.size(), daemon.events::toString);
            assertTrue(named.getFirst().contains("active-worker-generations.json"), named::toString);
            assertTrue(named.getFirst().contains(reason), named::toString);
            assertTrue(
                    daemon.events.stream()
                            .anyMatch(event -> event.startsWith("worker_activation_failed")
                                    && event.contains("failure_reason, generation_not_saved")),
                    daemon.events::toString);
            for (int i = 0; i < 50; i++) {
                assertTrue(stream.chunk().startsWith("event"));
            }
            disk.set(channel -> channel.force(true));
            launch(ann, mcp).ready();
            assertTrue(stream.chunk().startsWith("event"), "the stream stays where it began");
            over.set(true);
            assertFalse(data.seen.stream().anyMatch(request -> request.startsWith("POST")));
        }
        assertEquals(
                "worker",
                RawHttp.once(daemon.port(), RawHttp.post("/v1/messages", "{}", ann.header()))
                        .body());
    }
}
