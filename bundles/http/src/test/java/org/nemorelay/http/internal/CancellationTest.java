package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.WireProtocol;

/** A client's leaving reaches the provider within a second, whatever the exchange was doing (relay-daemon 6.5). */
@Timeout(60)
final class CancellationTest {
    private interface Step {
        void run(RawProvider.Exchange exchange) throws Exception;
    }

    private static void leave(WireProtocol between, String request, boolean awaitHead, Step step) throws Exception {
        CountDownLatch reached = new CountDownLatch(1);
        CountDownLatch told = new CountDownLatch(1);
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.head();
                    step.run(exchange);
                    reached.countDown();
                    if (exchange.peerCloses()) {
                        told.countDown();
                    }
                });
                Relay inner = new Relay(provider.origin());
                Relay outer = inner.behind(between)) {
            try (RawClient client = new RawClient(outer.port())) {
                client.send(request);
                if (awaitHead) {
                    client.readHead();
                }
                assertTrue(reached.await(5, TimeUnit.SECONDS));
            }
            assertTrue(told.await(1, TimeUnit.SECONDS), "the provider was not told within a second");
            Outcome expected = outer.outcome();
            if (request.startsWith("GET")) {
                assertEquals(new Outcome.ClientCancelled(), expected);
                assertEquals(new Outcome.ClientCancelled(), inner.outcome());
            } else {
                assertInstanceOf(Outcome.UploadAborted.class, expected);
            }
        }
    }

    private static final String GET = "GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n";

    @Test
    void beforeTheHead() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            leave(between, GET, false, exchange -> {});
        }
    }

    @Test
    void whileTheBodyPauses() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            leave(between, GET, true, exchange -> {
                exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
                exchange.chunk(new byte[] {1});
            });
        }
    }

    @Test
    void whileTheBodyIsBlocked() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.head();
                    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\n");
                    byte[] block = new byte[64 * 1024];
                    try {
                        while (true) {
                            exchange.out().write(block);
                        }
                    } catch (java.io.IOException e) {
                        told.countDown();
                    }
                });
                Relay relay = new Relay(provider.origin())) {
            try (RawClient client = new RawClient(relay.port())) {
                client.send(GET).readHead();
            }
            assertTrue(told.await(1, TimeUnit.SECONDS), "the provider was not told within a second");
            assertEquals(new Outcome.ClientCancelled(), relay.outcome());
        }
    }

    @Test
    void withinTheUpload() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            leave(
                    between,
                    "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nabc",
                    false,
                    exchange -> exchange.in().readNBytes(3));
        }
    }

    @Test
    void theConnectionServesPipelinedRequestsAfterBeingWatched() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (RawProvider provider = new RawProvider(exchange -> {
                    for (String head = exchange.head(); head != null; head = exchange.head()) {
                        if (head.startsWith("GET /slow")) {
                            go.await();
                        }
                        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    }
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            client.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n");
            Relay.await("the provider has the request", () -> provider.connections.get() == 1);
            client.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
            client.send("GET /b HTTP/1.1\r\nHost: x\r\n\r\n");
            go.countDown();
            for (int i = 0; i < 3; i++) {
                assertEquals("ok", client.read().text());
            }
            for (int i = 0; i < 2_000; i++) {
                assertEquals(
                        "ok",
                        client.send("GET /c HTTP/1.1\r\nHost: x\r\n\r\n").read().text());
            }
        }
    }
}
