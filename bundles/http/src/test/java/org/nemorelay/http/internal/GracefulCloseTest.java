package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.Outcome;

/** A listener that closes accepts nothing new and lets what is under way end. */
@Timeout(30)
final class GracefulCloseTest {
    private static final byte[] ONE = "data: one\n\n".getBytes(StandardCharsets.UTF_8);
    private static final byte[] TWO = "data: two\n\n".getBytes(StandardCharsets.UTF_8);
    private static final String REQUEST = "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";

    @Test
    void theStreamEndsAndNobodyNewComesIn() throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.body(exchange.head());
                    exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                    exchange.chunk(ONE);
                    release.await();
                    exchange.chunk(TWO);
                    exchange.send("0\r\n\r\n");
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            int port = relay.port();
            client.send(REQUEST);
            client.readHead();
            assertArrayEquals(ONE, client.readChunk());

            Thread closing = Thread.ofVirtual().start(() -> relay.listener().close(Duration.ofSeconds(20)));
            Relay.await("the port is closed", () -> !accepts(port));
            assertThrows(IOException.class, () -> new RawClient(port));

            release.countDown();
            assertArrayEquals(TWO, client.readChunk());
            assertEquals(0, client.readChunk().length);
            assertEquals(new Outcome.Completed(200), relay.outcome());
            // The client keeps its connection; the listener does not wait for what it may send.
            closing.join();
        }
    }

    private static boolean accepts(int port) {
        try {
            new RawClient(port).close();
            return true;
        } catch (IOException refused) {
            return false;
        }
    }
}
