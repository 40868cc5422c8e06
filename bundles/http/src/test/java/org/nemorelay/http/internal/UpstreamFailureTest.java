package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.WireProtocol;

/** A provider that does not do its part: one outcome each, one answer, never a second submission (relay-daemon 6.5). */
@Timeout(60)
final class UpstreamFailureTest {
    private static final String POST = "POST /v1/messages HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}";

    private static void answers502(String sent, Class<? extends Outcome> outcome) throws Exception {
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.body(exchange.head());
                    exchange.send(sent);
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            RawClient.Answer got = client.send(POST).read();
            assertEquals(502, got.status(), sent);
            assertTrue(got.text().startsWith("{\"error\":{\"message\":\""), got.text());
            assertTrue(got.text().endsWith("\",\"type\":\"nemo_relay_gateway_error\"}}"), got.text());
            assertInstanceOf(outcome, relay.outcome(), sent);
            assertEquals(1, provider.connections.get(), sent);
            // The client's connection is still good.
            assertEquals(502, client.send(POST).read().status());
        }
    }

    @Test
    void nothing() throws Exception {
        answers502("", Outcome.NoResponse.class);
    }

    @Test
    void halfAHead() throws Exception {
        answers502("HTTP/1.1 200 OK\r\nContent-Ty", Outcome.BadHead.class);
    }

    @Test
    void garbage() throws Exception {
        answers502("garbage garbage garbage\r\n\r\n", Outcome.BadHead.class);
    }

    @Test
    void protocolChange() throws Exception {
        answers502("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", Outcome.BadHead.class);
        answers502("HTTP/1.1 200 OK\r\nUpgrade: h2\r\nContent-Length: 0\r\n\r\n", Outcome.BadHead.class);
    }

    @Test
    void invalidConnectionHeader() throws Exception {
        answers502("HTTP/1.1 200 OK\r\nConnection: \u00e9\r\nContent-Length: 0\r\n\r\n", Outcome.BadHead.class);
    }

    @Test
    void twoDifferentLengths() throws Exception {
        answers502("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", Outcome.BadHead.class);
    }

    @Test
    void nobodyListens() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        for (WireProtocol protocol : WireProtocol.values()) {
            try (Relay relay = new Relay("http://127.0.0.1:" + port, protocol, to -> to);
                    RawClient client = new RawClient(relay.port())) {
                assertEquals(502, client.send(POST).read().status());
                assertInstanceOf(Outcome.ConnectFailed.class, relay.outcome());
            }
        }
    }

    @Test
    void headTakesTooLong() throws Exception {
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.body(exchange.head());
                    exchange.peerCloses();
                });
                Relay relay = new Relay(provider.origin(), WireProtocol.HTTP_1_1, to -> to.withHeadTimeoutMs(200));
                RawClient client = new RawClient(relay.port())) {
            assertEquals(504, client.send(POST).read().status());
            assertInstanceOf(Outcome.HeadTimeout.class, relay.outcome());
        }
    }

    @Test
    void headDeadlineDoesNotTouchTheBody() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.body(exchange.head());
                    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
                    go.await();
                    exchange.send("ok");
                });
                Relay relay = new Relay(provider.origin(), WireProtocol.HTTP_1_1, to -> to.withHeadTimeoutMs(100));
                RawClient client = new RawClient(relay.port())) {
            client.send(POST).readHead();
            relay.engine.scheduler().schedule(go::countDown, 300, java.util.concurrent.TimeUnit.MILLISECONDS);
            assertEquals("ok", new String(client.in.readNBytes(2), java.nio.charset.StandardCharsets.UTF_8));
            assertEquals(new Outcome.Completed(200), relay.outcome());
        }
    }

    @Test
    void bodyShorterThanAnnouncedBreaksTheClientsBody() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        exchange.body(exchange.head());
                        exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort");
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between);
                    RawClient client = new RawClient(outer.port())) {
                assertThrows(IOException.class, () -> client.send(POST).read());
                assertInstanceOf(Outcome.BodyBroken.class, outer.outcome());
                assertInstanceOf(Outcome.BodyBroken.class, inner.outcome());
            }
        }
    }

    /** All of it in one packet, so that the failure is there as soon as what came before it. */
    @Test
    void whatCameBeforeTheBreakIsTheClients() throws Exception {
        for (String broken : List.of(
                "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\nx\r\n",
                "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nx(): 1\r\n\r\n",
                "Content-Length: 5\r\n\r\nok")) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        exchange.body(exchange.head());
                        exchange.send("HTTP/1.1 200 OK\r\n" + broken);
                    });
                    Relay relay = new Relay(provider.origin())) {
                for (int i = 0; i < 50; i++) {
                    try (RawClient client = new RawClient(relay.port())) {
                        client.send(POST);
                        String got = new String(client.in.readAllBytes(), StandardCharsets.ISO_8859_1);
                        assertTrue(got.startsWith("HTTP/1.1 200 OK\r\n") && got.contains("ok"), broken + " -> " + got);
                    }
                }
            }
        }
    }

    @Test
    void aBreakOfTheNextHopsProviderIsNoMissingHead() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        exchange.body(exchange.head());
                        exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n");
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between)) {
                for (int i = 0; i < 50; i++) {
                    try (RawClient client = new RawClient(outer.port())) {
                        client.send(POST);
                        String got = new String(client.in.readAllBytes(), StandardCharsets.ISO_8859_1);
                        assertTrue(got.startsWith("HTTP/1.1 200 OK\r\n"), between + " -> " + got);
                    }
                }
                outer.ended(50);
                outer.outcomes.forEach(outcome -> assertInstanceOf(Outcome.BodyBroken.class, outcome));
            }
        }
    }

    @Test
    void chunksThatBreakOffBreakTheClientsBody() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        exchange.body(exchange.head());
                        exchange.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n");
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between);
                    RawClient client = new RawClient(outer.port())) {
                assertThrows(IOException.class, () -> client.send(POST).read());
                assertInstanceOf(Outcome.BodyBroken.class, outer.outcome());
            }
        }
    }

    @Test
    void providerThatDiesWithinTheUpload() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        exchange.head();
                        exchange.in().readNBytes(10);
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between);
                    RawClient client = new RawClient(outer.port())) {
                client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n0123456789");
                assertEquals(502, client.read().status());
                assertInstanceOf(Outcome.NoResponse.class, inner.outcome());
            }
        }
    }

    @Test
    void aPooledConnectionThatWentStaleNeverSubmitsTwice() throws Exception {
        try (RawProvider provider = new RawProvider(exchange -> {
                    String head = exchange.head();
                    exchange.body(head);
                    // Keeps the connection alive in words and closes it when the next request has come.
                    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    if (exchange.head() != null) {
                        throw new IOException("closed on the second request");
                    }
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            assertEquals("ok", client.send(POST).read().text());
            relay.ended(1);
            assertEquals(502, client.send(POST).read().status());
            assertEquals(1, provider.connections.get(), "the request was sent again over a new connection");
        }
    }

    @Test
    void aPooledConnectionThatWasClosedIsNotUsed() throws Exception {
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.body(exchange.head());
                    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            for (int i = 1; i <= 5; i++) {
                assertEquals("ok", client.send(POST).read().text());
                // Long enough for the close to arrive; were it not, the next request would fail visibly.
                java.util.concurrent.locks.LockSupport.parkNanos(20_000_000);
                assertEquals(i, provider.connections.get());
            }
        }
    }
}
