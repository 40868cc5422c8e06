package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.WireProtocol;

/** Bodies, trailers and expectations in both directions (relay-daemon 6.6). */
@Timeout(60)
final class BodyTest {
    @Test
    void trailersPassWithoutBeingAnnounced() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            List<String> up = new ArrayList<>();
            try (RawProvider provider = new RawProvider(exchange -> {
                        assertTrue(exchange.head().toLowerCase(Locale.ROOT).contains("transfer-encoding: chunked"));
                        RawClient.readChunked(exchange.in(), up);
                        exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                + "2\r\nok\r\n0\r\nX-End: 1\r\nX-Other: o\r\nX-End: 2\r\n\r\n");
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between);
                    RawClient client = new RawClient(outer.port())) {
                RawClient.Answer got = client.send("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                                + "3\r\nabc\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\n\r\n")
                        .read();
                assertEquals("ok", got.text());
                assertEquals(List.of("x-end: 1", "x-other: o", "x-end: 2"), got.trailers(), between.name());
                assertEquals(List.of("x-sum: 1", "x-sum: 2"), up, between.name());
            }
        }
    }

    @Test
    void sizedAndEmptyBodiesKeepTheirFraming() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            AtomicReference<String> head = new AtomicReference<>();
            try (RawProvider provider = new RawProvider(exchange -> {
                        for (String next = exchange.head(); next != null; next = exchange.head()) {
                            head.set(next.toLowerCase(Locale.ROOT));
                            byte[] body = exchange.body(next);
                            exchange.send("HTTP/1.1 200 OK\r\nContent-Length: " + body.length + "\r\n\r\n");
                            exchange.out().write(body);
                            exchange.out().flush();
                        }
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between);
                    RawClient client = new RawClient(outer.port())) {
                int count = 0;
                for (String body : List.of("", "x", "{\"a\":1}")) {
                    inner.ended(count++);
                    RawClient.Answer got = client.send("POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: "
                                    + body.length() + "\r\n\r\n" + body)
                            .read();
                    assertEquals(body, got.text());
                    assertTrue(head.get().contains("content-length: " + body.length() + "\r\n"), head.get());
                    assertTrue(!head.get().contains("transfer-encoding"), head.get());
                }
                assertEquals(1, provider.connections.get());
            }
        }
    }

    @Test
    void bodyThatEndsWithTheConnectionArrivesWhole() throws Exception {
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.head();
                    exchange.send("HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nuntil the end");
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            assertEquals(
                    "until the end",
                    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").read().text());
            assertEquals(new Outcome.Completed(200), relay.outcome());
        }
    }

    @Test
    void expectationIsAnsweredByTheProvider() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        String head = exchange.head();
                        assertTrue(head.toLowerCase(Locale.ROOT).contains("expect: 100-continue"));
                        exchange.send("HTTP/1.1 100 Continue\r\n\r\n");
                        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                                + new String(exchange.body(head), StandardCharsets.UTF_8));
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between)) {
                for (Relay relay : List.of(inner, outer)) {
                    try (RawClient client = new RawClient(relay.port())) {
                        client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
                        assertEquals(100, client.read().status(), between.name());
                        RawClient.Answer got = client.send("{}").read();
                        assertEquals(200, got.status(), between.name());
                        assertEquals("{}", got.text());
                    }
                }
            }
        }
    }

    @Test
    void refusedExpectationNeedsNoBody() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        exchange.head();
                        exchange.send("HTTP/1.1 401 No\r\nContent-Length: 4\r\n\r\nnope");
                        exchange.peerCloses();
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between)) {
                for (Relay relay : List.of(inner, outer)) {
                    try (RawClient client = new RawClient(relay.port())) {
                        RawClient.Answer got = client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                                        + "Content-Length: 2\r\n\r\n")
                                .read();
                        if (got.status() == 100 && between == WireProtocol.H2C) {
                            // Of an HTTP/2 client nobody can tell whether it waits, so it is asked at once.
                            got = client.read();
                        }
                        assertEquals(401, got.status(), between.name());
                        assertEquals("nope", got.text());
                        assertEquals(new Outcome.Completed(401), relay.outcome());
                    }
                }
            }
        }
    }

    @Test
    void providerThatIgnoresAnExpectationGetsTheBodyAllTheSame() throws Exception {
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                            + new String(exchange.body(exchange.head()), StandardCharsets.UTF_8));
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
            assertEquals(100, client.read().status());
            assertEquals("{}", client.send("{}").read().text());
        }
    }

    @Test
    void aBodyThatDoesNotWaitForTheExpectationIsNotHeldUp() throws Exception {
        Semaphore heads = new Semaphore(0);
        try (RawProvider provider = new RawProvider(exchange -> {
                    for (String head = exchange.head(); head != null; head = exchange.head()) {
                        assertTrue(head.toLowerCase(Locale.ROOT).contains("expect: 100-continue"));
                        heads.release();
                        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
                                + new String(exchange.body(head), StandardCharsets.UTF_8));
                    }
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            String head = "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n";
            for (int i = 0; i < 4; i++) {
                RawClient.Answer got = client.send(head + "{}").read();
                assertEquals(200, got.status(), "the body is here: nobody asks for it");
                assertEquals("{}", got.text());
            }
            heads.drainPermits();
            boolean unasked = false;
            // The relay waits for a while only: on a busy machine the body may come too late.
            for (int i = 0; i < 20 && !unasked; i++) {
                client.send(head);
                assertTrue(heads.tryAcquire(10, TimeUnit.SECONDS));
                RawClient.Answer got = client.send("{}").read();
                unasked = got.status() == 200;
                assertEquals("{}", (unasked ? got : client.read()).text());
            }
            assertTrue(unasked, "a body that comes after its head is noticed");
        }
    }

    @Test
    void earlyAnswerToALargeUploadArrives() throws Exception {
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.head();
                    exchange.send("HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nlarge");
                    exchange.peerCloses();
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n");
            client.out.write(new byte[10_000]);
            RawClient.Answer got = client.read();
            assertEquals(413, got.status());
            assertEquals("large", got.text());
            assertEquals(new Outcome.Completed(413), relay.outcome());
        }
    }

    @Test
    void largeBodiesPassInFlatMemory() throws Exception {
        int size = 64 * 1024 * 1024;
        for (WireProtocol between : WireProtocol.values()) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        exchange.head();
                        byte[] block = new byte[64 * 1024];
                        long read = 0;
                        while (read < size) {
                            read += exchange.in().read(block);
                        }
                        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: " + size + "\r\n\r\n");
                        for (int sent = 0; sent < size; sent += block.length) {
                            exchange.out().write(block);
                        }
                        exchange.out().flush();
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between);
                    RawClient client = new RawClient(outer.port())) {
                client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + size + "\r\n\r\n");
                byte[] block = new byte[64 * 1024];
                for (int sent = 0; sent < size; sent += block.length) {
                    client.out.write(block);
                }
                client.readHead();
                System.gc();
                long before = Runtime.getRuntime().totalMemory()
                        - Runtime.getRuntime().freeMemory();
                long direct = direct();
                long read = 0;
                while (read < size) {
                    int n = client.in.read(block);
                    assertTrue(n > 0, "body ended after " + read);
                    read += n;
                }
                System.gc();
                long grown = Runtime.getRuntime().totalMemory()
                        - Runtime.getRuntime().freeMemory()
                        - before;
                assertTrue(grown < 8 << 20, "heap grew by " + grown);
                assertTrue(direct() - direct < 8 << 20, "direct memory grew by " + (direct() - direct));
            }
        }
    }

    private static long direct() {
        return java.lang.management.ManagementFactory.getPlatformMXBeans(java.lang.management.BufferPoolMXBean.class)
                .stream()
                .filter(pool -> pool.getName().equals("direct"))
                .mapToLong(java.lang.management.BufferPoolMXBean::getMemoryUsed)
                .sum();
    }

    @Test
    void case110SlowReaderStopsTheProvider() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            java.util.concurrent.atomic.AtomicLong sent = new java.util.concurrent.atomic.AtomicLong();
            // No two blocks are alike, nor two stretches of one.
            int blocks = 512;
            int block = 64 * 1024;
            byte[] body = new byte[blocks * block];
            new java.util.Random(110).nextBytes(body);
            try (RawProvider provider = new RawProvider(exchange -> {
                        exchange.head();
                        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: " + body.length + "\r\n\r\n");
                        for (int i = 0; i < blocks; i++) {
                            exchange.out().write(body, i * block, block);
                            sent.addAndGet(block);
                        }
                        exchange.out().flush();
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between);
                    RawClient client = new RawClient(outer.port())) {
                client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").readHead();
                long[] last = {-1, System.nanoTime()};
                Relay.await("the provider stalls", () -> {
                    if (sent.get() != last[0]) {
                        last[0] = sent.get();
                        last[1] = System.nanoTime();
                    }
                    return System.nanoTime() - last[1] > 300_000_000L;
                });
                assertTrue(sent.get() < body.length, "the provider was never stopped");
                assertArrayEquals(body, client.in.readNBytes(body.length));
            }
        }
    }
}
