package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.WireProtocol;

/** Many slow streams at once, over either kind of hop (relay-daemon 0.1: the stock binary stops at 200). */
@Timeout(120)
final class ManyStreamsTest {
    private static final int STREAMS = 1_000;

    @Test
    void allAreOpenAtOnceAndNoneGetsAnothersBytes() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            CountDownLatch all = new CountDownLatch(STREAMS);
            try (RawProvider provider = new RawProvider(exchange -> {
                        String head = exchange.head();
                        if (head == null) {
                            return; // Opened for a request that found another connection first.
                        }
                        byte[] id = head.substring(5, head.indexOf(' ', 5)).getBytes(StandardCharsets.UTF_8);
                        exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                        exchange.chunk(id);
                        all.countDown();
                        all.await();
                        exchange.chunk(id);
                        exchange.send("0\r\n\r\n");
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between)) {
                List<RawClient> clients = new ArrayList<>();
                for (int i = 0; i < STREAMS; i++) {
                    RawClient client = new RawClient(outer.port());
                    clients.add(client);
                    client.send("GET /" + i + " HTTP/1.1\r\nHost: x\r\n\r\n");
                }
                for (int i = 0; i < STREAMS; i++) {
                    try (RawClient client = clients.get(i)) {
                        assertEquals("" + i + i, client.read().text());
                    }
                }
                outer.ended(STREAMS);
                inner.ended(STREAMS);
            }
        }
    }
}
