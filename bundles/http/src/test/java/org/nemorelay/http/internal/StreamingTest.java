package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.WireProtocol;

/** What a provider has sent is visible to the client at once, and every byte arrives as it was (relay-daemon 6.6). */
@Timeout(60)
final class StreamingTest {
    private static final byte[] FIRST = "data: one\n\n".getBytes(StandardCharsets.UTF_8);
    private static final byte[] SECOND = "data: two\n\n".getBytes(StandardCharsets.UTF_8);

    @Test
    void firstEventIsVisibleWhileTheSecondIsWithheld() throws Exception {
        CountDownLatch seen = new CountDownLatch(1);
        try (RawProvider provider = events(seen);
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            firstThenSecond(client, seen);
            assertEquals(new Outcome.Completed(200), relay.outcome());
        }
    }

    @Test
    void firstEventIsVisibleAcrossAnHttp2Hop() throws Exception {
        CountDownLatch seen = new CountDownLatch(1);
        try (RawProvider provider = events(seen);
                Relay inner = new Relay(provider.origin());
                Relay outer = inner.behind(WireProtocol.H2C);
                RawClient client = new RawClient(outer.port())) {
            firstThenSecond(client, seen);
            assertEquals(new Outcome.Completed(200), outer.outcome());
            assertEquals(new Outcome.Completed(200), inner.outcome());
        }
    }

    private static RawProvider events(CountDownLatch seen) throws Exception {
        return new RawProvider(exchange -> {
            exchange.body(exchange.head());
            exchange.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n");
            exchange.chunk(FIRST);
            seen.await();
            exchange.chunk(SECOND);
            exchange.send("0\r\n\r\n");
        });
    }

    private static void firstThenSecond(RawClient client, CountDownLatch seen) throws Exception {
        client.send("POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
        client.readHead();
        assertArrayEquals(FIRST, client.readChunk());
        seen.countDown();
        assertArrayEquals(SECOND, client.readChunk());
        assertEquals(0, client.readChunk().length);
    }

    @Test
    void headIsVisibleBeforeAnyOfTheBody() throws Exception {
        CountDownLatch seen = new CountDownLatch(1);
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.head();
                    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n");
                    seen.await();
                    exchange.send("body");
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            client.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n");
            client.readHead();
            seen.countDown();
            assertEquals("body", new String(client.in.readNBytes(4), StandardCharsets.UTF_8));
        }
    }

    @Test
    void case111BinaryCorpusIsIdentical() throws Exception {
        for (int hops = 1; hops <= 3; hops++) {
            corpus(hops);
        }
    }

    private static void corpus(int hops) throws Exception {
        Random random = new Random(7);
        byte[] corpus = new byte[300_000];
        random.nextBytes(corpus);
        try (RawProvider provider = new RawProvider(exchange -> {
                    byte[] body = exchange.body(exchange.head());
                    exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: x-end\r\n\r\n");
                    Random sizes = new Random(11);
                    for (int at = 0; at < body.length; ) {
                        int size = Math.min(body.length - at, 1 + sizes.nextInt(sizes.nextInt(10) == 0 ? 40_000 : 700));
                        exchange.chunk(java.util.Arrays.copyOfRange(body, at, at + size));
                        at += size;
                    }
                    exchange.send("0\r\nX-End: 1\r\nX-End: 2\r\n\r\n");
                });
                Relay first = new Relay(provider.origin());
                Relay second = first.behind(WireProtocol.HTTP_1_1);
                Relay third = first.behind(WireProtocol.H2C);
                RawClient client = new RawClient(hops == 1 ? first.port() : hops == 2 ? second.port() : third.port())) {
            client.send("POST /v1/responses HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
            for (int at = 0; at < corpus.length; ) {
                int size = Math.min(corpus.length - at, 1 + random.nextInt(5_000));
                client.send(Integer.toHexString(size) + "\r\n");
                client.out.write(corpus, at, size);
                client.send("\r\n");
                at += size;
            }
            client.send("0\r\n\r\n");
            RawClient.Answer answer = client.read();
            assertArrayEquals(corpus, answer.body(), hops + " hops");
            assertEquals(List.of("x-end: 1", "x-end: 2"), answer.trailers(), hops + " hops");
        }
    }
}
