package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.HeaderRules;
import org.nemorelay.http.WireProtocol;
import org.nemorelay.protocol.Headers;

/** What a hop does to the heads that pass it (relay-daemon 6.3). */
@Timeout(60)
final class HeadTest {
    private static List<String> lines(String head) {
        return Arrays.stream(head.split("\r\n")).map(HeadTest::lowerName).toList();
    }

    private static String lowerName(String line) {
        int colon = line.indexOf(':');
        return colon < 0 ? line : line.substring(0, colon).toLowerCase(Locale.ROOT) + line.substring(colon);
    }

    @Test
    void requestKeepsOrderAndRepetitionAndLosesWhatBelongsToTheHop() throws Exception {
        AtomicReference<String> seen = new AtomicReference<>();
        try (RawProvider provider = new RawProvider(exchange -> {
                    String head = exchange.head();
                    seen.set(head);
                    exchange.body(head);
                    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                });
                Relay relay = new Relay(
                        provider.origin(),
                        WireProtocol.HTTP_1_1,
                        to -> to.withRequest(headers -> {
                            HeaderRules.removePrivate(headers);
                            headers.add(Headers.WORKER_TOKEN, "data");
                        }));
                RawClient client = new RawClient(relay.port())) {
            client.send("POST /v1/messages?beta=true&q=%7C%zz HTTP/1.1\r\nX-First: 1\r\nHost: relay:1\r\nX-Multi: 1\r\n"
                    + "User-Agent: claude-cli/2.1\r\nConnection: keep-alive, X-Hop\r\nX-Hop: gone\r\nKeep-Alive: 5\r\n"
                    + "TE: gzip\r\nProxy-Authorization: p\r\nx-nemo-relay-client-token: c\r\n"
                    + "X-Nemo-Relay-Worker-Token: w\r\nx-nemo-relay-operation-id: o\r\nAccept-Encoding: gzip, br\r\n"
                    + "Content-Type: application/json\r\nCookie: a=b\r\nContent-Length: 2\r\nX-Multi: 2\r\n\r\n{}");
            RawClient.Answer got = client.read();
            assertEquals(200, got.status(), got.text());
            assertEquals(
                    List.of(
                            "POST /v1/messages?beta=true&q=%7C%zz HTTP/1.1",
                            "x-first: 1",
                            "host: 127.0.0.1:" + provider.port(),
                            "x-multi: 1",
                            "user-agent: claude-cli/2.1",
                            "accept-encoding: gzip, br",
                            "content-type: application/json",
                            "cookie: a=b",
                            "x-multi: 2",
                            "x-nemo-relay-worker-token: data",
                            "te: trailers",
                            "content-length: 2"),
                    lines(seen.get()));
        }
    }

    @Test
    void bareGetGainsNothingButTe() throws Exception {
        AtomicReference<String> seen = new AtomicReference<>();
        try (RawProvider provider = new RawProvider(exchange -> {
                    seen.set(exchange.head());
                    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            client.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n").read();
            assertEquals(
                    List.of("GET /v1/models HTTP/1.1", "host: 127.0.0.1:" + provider.port(), "te: trailers"),
                    lines(seen.get()));
        }
    }

    @Test
    void responseKeepsDateServerCookiesAndOrder() throws Exception {
        String answer = "HTTP/1.1 207 Odd\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nServer: mock\r\n"
                + "Set-Cookie: a=1\r\nX-Multi: a\r\nSet-Cookie: b=2\r\nX-Multi: b\r\nConnection: X-Hop, close\r\n"
                + "X-Hop: gone\r\nContent-Encoding: gzip\r\nx-nemo-relay-foo: kept\r\nContent-Length: 4\r\n\r\n";
        for (WireProtocol between : WireProtocol.values()) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        exchange.head();
                        exchange.send(answer);
                        exchange.out().write(new byte[] {0x1f, (byte) 0x8b, 0, -1});
                        exchange.out().flush();
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between);
                    RawClient client = new RawClient(outer.port())) {
                RawClient.Answer got = client.send("GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n")
                        .read();
                assertEquals(207, got.status());
                assertEquals(List.of("Mon, 01 Jan 2024 00:00:00 GMT"), got.header("date"));
                assertEquals(List.of("mock"), got.header("server"));
                assertEquals(List.of("a=1", "b=2"), got.header("set-cookie"));
                assertEquals(List.of("a", "b"), got.header("x-multi"));
                assertEquals(List.of("kept"), got.header("x-nemo-relay-foo"));
                assertEquals(List.of("gzip"), got.header("content-encoding"));
                assertEquals(List.of("4"), got.header("content-length"));
                assertEquals(List.of(), got.header("x-hop"));
                assertEquals(List.of(), got.header("connection"));
                assertEquals(4, got.body().length);
            }
        }
    }

    @Test
    void everyAnswerHasADate() throws Exception {
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.head();
                    exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            RawClient.Answer got =
                    client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").read();
            assertEquals(1, got.header("date").size());
            assertEquals(List.of(), got.header("server"));
        }
    }

    @Test
    void bodilessAnswersKeepTheirLength() throws Exception {
        for (String line : List.of("HEAD 200", "GET 304", "GET 204")) {
            String method = line.substring(0, line.indexOf(' '));
            String status = line.substring(line.indexOf(' ') + 1);
            try (RawProvider provider = new RawProvider(exchange -> {
                        while (exchange.head() != null) {
                            exchange.send("HTTP/1.1 " + status + " X\r\nETag: e\r\n"
                                    + (status.equals("204") ? "" : "Content-Length: 123\r\n") + "\r\n");
                        }
                    });
                    Relay relay = new Relay(provider.origin());
                    RawClient client = new RawClient(relay.port())) {
                for (int i = 0; i < 2; i++) {
                    relay.ended(i);
                    RawClient.Answer got = client.send(method + " /x HTTP/1.1\r\nHost: x\r\n\r\n")
                            .read(true);
                    assertEquals(status, "" + got.status());
                    assertEquals(List.of("e"), got.header("etag"), line);
                    if (method.equals("HEAD")) {
                        assertEquals(List.of("123"), got.header("content-length"), line);
                    }
                }
                assertEquals(1, provider.connections.get(), line);
            }
        }
    }

    @Test
    void largeHeadsPass() throws Exception {
        String large = "v".repeat(100_000);
        for (WireProtocol between : WireProtocol.values()) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        String head = exchange.head();
                        assertTrue(head.contains(large));
                        exchange.send("HTTP/1.1 200 OK\r\nX-Large: " + large + "\r\nContent-Length: 0\r\n\r\n");
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between);
                    RawClient client = new RawClient(outer.port())) {
                RawClient.Answer got = client.send("GET / HTTP/1.1\r\nHost: x\r\nX-Large: " + large + "\r\n\r\n")
                        .read();
                assertEquals(200, got.status(), between.name());
                assertEquals(List.of(large), got.header("x-large"));
            }
        }
    }

    @Test
    void malformedRequestIsAnsweredWithoutABody() throws Exception {
        try (Relay relay = new Relay("http://127.0.0.1:1");
                RawClient client = new RawClient(relay.port())) {
            RawClient.Answer got =
                    client.send("GET / HTTP/1.1\r\nno colon\r\n\r\n").read();
            assertEquals(400, got.status());
            assertEquals(0, got.body().length);
            assertFalse(got.head().toLowerCase(Locale.ROOT).contains("jetty"));
        }
    }

    @Test
    void interimResponsesPass() throws Exception {
        for (WireProtocol between : WireProtocol.values()) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        exchange.head();
                        exchange.send("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"
                                + "HTTP/1.1 103 Early Hints\r\nLink: </b>\r\n\r\n"
                                + "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
                    });
                    Relay inner = new Relay(provider.origin());
                    Relay outer = inner.behind(between);
                    RawClient client = new RawClient(outer.port())) {
                client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
                assertEquals(List.of("</a>"), client.read().header("link"));
                assertEquals(List.of("</b>"), client.read().header("link"));
                RawClient.Answer last = client.read();
                assertEquals(200, last.status());
                assertEquals(List.of(), last.header("link"));
                assertEquals("ok", last.text());
            }
        }
    }

    @Test
    void answersThatHaveNoBodyMayAnnounceOneNobodyWaitsFor() throws Exception {
        for (String status : new String[] {"204 No Content", "304 Not Modified"}) {
            try (RawProvider provider = new RawProvider(exchange -> {
                        exchange.head();
                        exchange.send("HTTP/1.1 " + status + "\r\nContent-Length: 5\r\nX-A: 1\r\n\r\n");
                    });
                    Relay relay = new Relay(provider.origin());
                    RawClient client = new RawClient(relay.port())) {
                RawClient.Answer got =
                        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").read();
                assertEquals(status.substring(0, 3), Integer.toString(got.status()));
                assertEquals(List.of("1"), got.header("x-a"));
            }
        }
    }
}
