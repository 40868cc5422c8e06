package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Reply;

/** Events that fill no buffer are seen at once (B1). */
@ExtendWith(Line.Shared.class)
@Timeout(60)
class NothingIsHeldBackTest {
    private static final int PINGS = 25;
    private static final String PING = "event: ping\ndata: {\"type\": \"ping\", \"pad\": \"0123456789012\"}\n\n";

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, PASS_THROUGH", "H2C, WORKER"})
    void case107EveryPingIsSeenBeforeTheNextIsSent(Version version, Route route, Line line) throws Exception {
        assertEquals(60, PING.length());
        SynchronousQueue<Long> sent = new SynchronousQueue<>();
        SynchronousQueue<Boolean> seen = new SynchronousQueue<>();
        line.provider().script(route.at("/v1/messages"), (head, connection) -> {
            connection.body(head, new ArrayList<>());
            Reply reply = connection.reply().head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
            for (int i = 0; i < PINGS; i++) {
                long now = System.nanoTime();
                reply.chunk(PING);
                if (!sent.offer(now, 10, TimeUnit.SECONDS) || seen.poll(10, TimeUnit.SECONDS) == null) {
                    return; // The client was not given it: the stream breaks off.
                }
            }
            reply.end();
        });
        List<Duration> delays = new ArrayList<>();
        try (Call call = line.send(version, route, "/v1/messages", new byte[0])) {
            for (int i = 0; i < PINGS; i++) {
                assertEquals(PING, call.read(PING.length()));
                long arrived = System.nanoTime();
                delays.add(Duration.ofNanos(arrived - sent.poll(10, TimeUnit.SECONDS)));
                assertTrue(seen.offer(true, 10, TimeUnit.SECONDS));
            }
            assertEquals(0, call.read().length);
        }
        // The typical one, so that a busy machine's pauses do not count.
        Duration median = delays.stream().sorted().skip(PINGS / 2).findFirst().orElseThrow();
        assertTrue(median.toMillis() < 50, delays.toString());
    }
}
