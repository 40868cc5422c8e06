package org.nemorelay.files;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.protocol.RelayException;
import org.nemorelay.seams.CancelledException;
import org.nemorelay.seams.Context;
import org.nemorelay.seams.StagingException;
import org.nemorelay.seams.UnreachableException;
import org.nemorelay.seams.carrier.Faults;
import org.nemorelay.seams.carrier.MemoryDial;
import org.nemorelay.seams.dial.WorkerDialers;
import org.nemorelay.seams.staging.TransferProgress;
import org.nemorelay.telemetry.EventLog;
import org.nemorelay.telemetry.ProcessControl;

/** Transfers that break, and what the worker's server says to each piece (distributed-seams 5.3). */
class ResumeTest {
    private static final Context CONTEXT = Context.background();

    @TempDir
    Path folder;

    private final MemoryDial dial = new MemoryDial(MemoryDial.Routing.NODE, new Faults(new Quiet(), new Quiet()));
    private final AtomicInteger dials = new AtomicInteger();
    private final AtomicLong written = new AtomicLong();
    /** Bytes after which each of the next connections breaks. */
    private final List<Long> breaks = new ArrayList<>();

    private FileAreas areas;
    private Path local;
    private byte[] content;

    @BeforeEach
    void serve() throws IOException {
        areas = FileAreas.below(folder.resolve("node"));
        dial.server("n", new FileServer(areas, "", () -> true)::serve);
        content = new byte[3_000_000];
        new Random(1).nextBytes(content);
        local = Files.write(folder.resolve("big"), content);
    }

    private HttpFileStager stager() {
        WorkerDialers breaking = new WorkerDialers() {
            @Override
            public Dialer dialerFor(String nodeId) {
                Dialer real = dial.dialerFor(nodeId);
                return new Dialer() {
                    @Override
                    public ByteChannel dial(Context context, String address) {
                        dials.incrementAndGet();
                        long limit = breaks.isEmpty() ? Long.MAX_VALUE : breaks.removeFirst();
                        return new Breaking(real.dial(context, address), limit);
                    }

                    @Override
                    public boolean direct() {
                        return false;
                    }
                };
            }

            @Override
            public void forgetNode(String nodeId) {
                dial.forgetNode(nodeId);
            }
        };
        return new HttpFileStager(
                "t", breaking, node -> Optional.of("x:1"), "", Optional.empty(), Duration.ofMillis(5));
    }

    @Test
    void aTransferThatBreaksGoesOnWhereItStopped() throws IOException {
        breaks.addAll(List.of(1_000_000L, 1_000_000L));
        String path = stager().ensureRemote(CONTEXT, "n", local, "models/m", TransferProgress.none());
        assertArrayEquals(content, Files.readAllBytes(Path.of(path)));
        assertTrue(
                written.get() < content.length + 900_000,
                "what had arrived is not sent again: " + written.get() + " bytes went out");
    }

    @Test
    void progressIsOfTheWholeFile() {
        breaks.add(1_000_000L);
        AtomicLong total = new AtomicLong();
        AtomicLong last = new AtomicLong();
        stager().ensureRemote(CONTEXT, "n", local, "models/m", (file, moved, of) -> {
            total.set(of);
            last.set(moved);
        });
        assertEquals(content.length, total.get());
        assertEquals(content.length, last.get());
    }

    @Test
    void attemptsThatMoveNothingEnd() {
        breaks.addAll(List.of(0L, 0L, 0L, 0L, 0L, 0L, 0L, 0L));
        assertThrows(
                UnreachableException.class,
                () -> stager().ensureRemote(CONTEXT, "n", local, "models/m", TransferProgress.none()));
        assertFalse(Files.exists(areas.models().resolve("m")));
    }

    @Test
    void cancellingEndsATransferAndLeavesNoFile() {
        Context.Cancellable context = CONTEXT.cancellable();
        assertThrows(
                CancelledException.class,
                () -> stager().ensureRemote(context, "n", local, "models/m", (file, moved, of) -> context.cancel()));
        assertFalse(Files.exists(areas.models().resolve("m")));
    }

    @Test
    void theServersAnswersToPieces() throws IOException {
        String hash = "ee".repeat(32);
        assertStatus(308, put("k", "bytes 0-3/10", hash, "abcd"));
        assertStatus(416, put("k", "bytes 2-3/10", hash, "cd"));
        assertStatus(308, put("k", "bytes 4-5/10", hash, "ef"));
        String described = ask("HEAD /v1/files/k HTTP/1.1\r\nConnection: close\r\n\r\n");
        assertTrue(described.contains("X-File-Size: 6"), described);
        assertTrue(described.contains("X-Target-SHA256: " + hash), described);
        assertStatus(409, put("k", "bytes 6-9/10", "aa".repeat(32), "ghij"));
        assertStatus(404, ask("HEAD /v1/files/k HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assertStatus(308, put("k", "bytes 0-5/10", hash, "abcdef"));
        assertStatus(400, put("k", "bytes 6-9/10", hash, "ghij"));
        assertStatus(404, ask("GET /v1/files/k HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assertStatus(200, put("k", "", "", "abcdefghij"));
        assertTrue(ask("GET /v1/files/k HTTP/1.1\r\nConnection: close\r\n\r\n").endsWith("abcdefghij"));
    }

    @Test
    void whatIsNoRequestIsAnswered() {
        assertStatus(400, ask("NONSENSE\r\n\r\n"));
        assertStatus(400, put("k", "bytes 5-3/10", "", "ab"));
        assertStatus(400, put("k", "nothing", "", "ab"));
        assertStatus(400, put("x.sha256", "", "", "ab"));
        assertStatus(400, put("..%2F..%2Fx", "", "", "ab"));
        assertStatus(404, ask("GET /elsewhere HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assertStatus(405, ask("PATCH /v1/files/k HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assertStatus(200, ask("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"));
    }

    @Test
    void aLinkOutOfTheFoldersLeadsNowhere() throws IOException {
        Files.createSymbolicLink(areas.models().resolve("out"), folder);
        assertStatus(400, ask("GET /v1/files/models/out/big HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assertThrows(
                StagingException.class,
                () -> stager().ensureRemote(CONTEXT, "n", local, "models/out/x", TransferProgress.none()));
        assertFalse(Files.exists(folder.resolve("x")));
    }

    @Test
    void theTokenIsWantedEverywhereButForHealth() throws IOException {
        dial.server("n", new FileServer(areas, "secret", () -> false)::serve);
        assertStatus(401, ask("GET /v1/files/k HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assertStatus(401, put("k", "", "", "ab"));
        assertFalse(Files.exists(areas.staging().resolve("k")));
        assertStatus(200, ask("GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assertStatus(503, ask("GET /readyz HTTP/1.1\r\nConnection: close\r\n\r\n"));
        assertStatus(404, ask("GET /v1/files/k HTTP/1.1\r\nAuthorization: Bearer secret\r\nConnection: close\r\n\r\n"));
    }

    private String put(String key, String range, String hash, String body) {
        return ask("PUT /v1/files/" + key + " HTTP/1.1\r\n"
                + (range.isEmpty() ? "" : "Content-Range: " + range + "\r\n")
                + (hash.isEmpty() ? "" : "X-Content-SHA256: " + hash + "\r\n") + "Content-Length: " + body.length()
                + "\r\nConnection: close\r\n\r\n" + body);
    }

    private static void assertStatus(int status, String answer) {
        assertTrue(answer.startsWith("HTTP/1.1 " + status + " "), answer);
    }

    private String ask(String request) {
        try (ByteChannel channel = dial.dialerFor("n").dial(CONTEXT, "x:1")) {
            ByteBuffer out = ByteBuffer.wrap(request.getBytes(StandardCharsets.UTF_8));
            while (out.hasRemaining()) {
                channel.write(out);
            }
            ByteBuffer in = ByteBuffer.allocate(65_536);
            while (channel.read(in) >= 0) {}
            return new String(in.array(), 0, in.position(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private final class Breaking implements ByteChannel {
        private final ByteChannel channel;
        private long left;

        private Breaking(ByteChannel channel, long left) {
            this.channel = channel;
            this.left = left;
        }

        @Override
        public int read(ByteBuffer target) throws IOException {
            return channel.read(target);
        }

        @Override
        public int write(ByteBuffer source) throws IOException {
            int count = source.remaining();
            if (count > left) {
                channel.close();
                throw new ClosedChannelException();
            }
            left -= count;
            written.addAndGet(count);
            return channel.write(source);
        }

        @Override
        public boolean isOpen() {
            return channel.isOpen();
        }

        @Override
        public void close() throws IOException {
            channel.close();
        }
    }

    private static final class Quiet implements EventLog, ProcessControl {
        @Override
        public boolean enabled(Level level) {
            return false;
        }

        @Override
        public void log(Level level, String target, String event, String message, Object... fields) {}

        @Override
        public void flush() {}

        @Override
        public void ready() {}

        @Override
        public void fail(RelayException failure) {}

        @Override
        public void exit(int status) {}
    }
}
