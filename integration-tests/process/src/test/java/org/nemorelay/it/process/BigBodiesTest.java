package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Reply;

/** Bodies of any size pass without a limit and without being kept (B18). */
@ExtendWith(Line.Shared.class)
@Timeout(60)
class BigBodiesTest {
    private static final int MIB = 1024 * 1024;
    private static final int LARGEST = 100;
    /** What a process may grow by once such a body has passed: a heap that still moves a little, but no copy of one. */
    private static final int GROWTH_KIB = 32 * 1024;

    private static long checksum(InputStream in, long length) throws IOException {
        CRC32 sum = new CRC32();
        byte[] buffer = new byte[65_536];
        for (long left = length; left > 0; ) {
            int count = in.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (count < 0) {
                throw new IOException("end of input, " + left + " bytes early");
            }
            sum.update(buffer, 0, count);
            left -= count;
        }
        return sum.getValue();
    }

    @ParameterizedTest
    @CsvSource({
        "HTTP_1_1, PASS_THROUGH, 33",
        "HTTP_1_1, WORKER, 3",
        "HTTP_1_1, WORKER, 12",
        "HTTP_1_1, WORKER, 70",
        "H2C, WORKER, 33"
    })
    void bothWaysUnchanged(Version version, Route route, int mib, Line line) throws Exception {
        exchange(version, route, mib, line);
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, WORKER"})
    void inFlatMemory(Version version, Route route, Line line) throws Exception {
        // The first of its kind: the heap finds its size, the code is compiled.
        exchange(version, route, LARGEST, line);
        long daemon = ProcessTable.residentKib(line.daemonPid());
        long worker = ProcessTable.residentKib(line.workerPid());
        for (int i = 0; i < 3; i++) {
            exchange(version, route, LARGEST, line);
        }
        long daemonGrew = ProcessTable.residentKib(line.daemonPid()) - daemon;
        long workerGrew = ProcessTable.residentKib(line.workerPid()) - worker;
        assertTrue(
                daemonGrew < GROWTH_KIB && workerGrew < GROWTH_KIB,
                "daemon grew by " + daemonGrew + " KiB, worker by " + workerGrew + " KiB");
    }

    /** A body of this size up and another one down, each compared by its checksum. */
    private static void exchange(Version version, Route route, int mib, Line line) throws Exception {
        byte[] piece = new byte[MIB];
        new Random(mib).nextBytes(piece);
        CRC32 expected = new CRC32();
        for (int i = 0; i < mib; i++) {
            expected.update(piece);
        }
        CompletableFuture<Long> received = new CompletableFuture<>();
        line.provider().script(route.at("/v1/messages"), (head, connection) -> {
            long length = Long.parseLong(head.header("content-length").getFirst());
            received.complete(checksum(connection.in(), length));
            Reply reply = connection.reply().head(200, "content-length: " + length);
            for (int i = 0; i < mib; i++) {
                reply.raw(piece);
            }
        });
        try (Call call = line.post(version, route, "/v1/messages", "content-length: " + (long) mib * MIB)) {
            for (int i = 0; i < mib; i++) {
                call.data(piece);
            }
            call.end();
            assertEquals(200, call.head().status());
            assertEquals(expected.getValue(), received.get(20, TimeUnit.SECONDS));
            CRC32 sum = new CRC32();
            for (byte[] more = call.read(); more.length > 0; more = call.read()) {
                sum.update(more);
            }
            assertEquals(expected.getValue(), sum.getValue());
        }
    }
}
