package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.http.Answers;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.WireProtocol;

/** An answer that is given before the request's body has been read arrives whole, and no hop is taken for broken. */
@Timeout(120)
final class EarlyAnswerTest {
    private static final int REQUESTS = 100;
    private static final int BODY = 300_000;
    private static final String POST = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + BODY + "\r\n\r\n";

    /** A listener of the relay that refuses everything; at the next hop it is a worker, or a provider that does well. */
    private static HttpListener refusing(HttpEngine engine) {
        return engine.listen("127.0.0.1", 0, server -> new Handler.Abstract.NonBlocking() {
            @Override
            public boolean handle(Request request, Response response, Callback callback) {
                Answers.error(response, callback, 413, "too large");
                return true;
            }
        });
    }

    @ParameterizedTest
    @EnumSource
    void ofTheNextHop(WireProtocol between) throws Exception {
        try (HttpEngine engine = HttpEngine.create(Map.of());
                HttpListener inner = refusing(engine);
                Relay outer = new Relay(
                        engine, false, "http://127.0.0.1:" + inner.port(), between, destination -> destination)) {
            assertEquals(List.of(), wrong(outer, "{\"error\":{\"message\":\"too large\"}}"));
        }
    }

    @ParameterizedTest
    @EnumSource
    void ofAProviderThatClosesAtOnce(WireProtocol between) throws Exception {
        AtomicInteger requests = new AtomicInteger();
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.head();
                    requests.incrementAndGet();
                    // What it leaves unread has its kernel reset the connection.
                    exchange.send("HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\nConnection: close\r\n\r\nlarge");
                });
                Relay inner = new Relay(provider.origin());
                Relay outer = inner.behind(between)) {
            assertEquals(List.of(), wrong(outer, "large"));
            inner.ended(REQUESTS);
            assertEquals(REQUESTS, requests.get());
            for (Outcome outcome : inner.outcomes) {
                // The hop before gives the upload up as soon as it has the answer, be it before this one knows that.
                assertTrue(
                        outcome.equals(new Outcome.Completed(413)) || outcome instanceof Outcome.ClientCancelled,
                        outcome::toString);
            }
        }
    }

    private static List<String> wrong(Relay outer, String text) throws IOException {
        List<String> wrong = new ArrayList<>();
        byte[] body = new byte[BODY];
        for (int i = 0; i < REQUESTS; i++) {
            try (RawClient client = new RawClient(outer.port())) {
                client.send(POST);
                client.out.write(body);
                RawClient.Answer answer = client.read();
                if (answer.status() != 413 || !answer.text().equals(text)) {
                    wrong.add(answer.head() + answer.text());
                }
            } catch (IOException e) {
                wrong.add(i + ": " + e);
            }
            outer.ended(i + 1);
            if (!outer.outcomes.getLast().equals(new Outcome.Completed(413))) {
                wrong.add(i + ": " + outer.outcomes.getLast());
            }
        }
        return wrong;
    }

    @Test
    void saysThatTheConnectionCloses() throws Exception {
        try (HttpEngine engine = HttpEngine.create(Map.of());
                HttpListener listener = refusing(engine);
                RawClient client = new RawClient(listener.port())) {
            client.send(POST);
            client.out.write(new byte[1_000]);
            RawClient.Answer answer = client.read();
            assertEquals(List.of("close"), answer.header("connection"));
            assertEquals(-1, client.in.read());
        }
    }

    @Test
    void ofAProviderThatStopsReading() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        try (RawProvider provider = new RawProvider(exchange -> {
                    exchange.head();
                    exchange.send("HTTP/1.1 413 Too Large\r\nContent-Length: 5\r\n\r\nlarge");
                    over.await();
                });
                Relay relay = new Relay(provider.origin());
                RawClient client = new RawClient(relay.port())) {
            int size = 16 * 1024 * 1024;
            client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + size + "\r\n\r\n");
            // More than the sockets in between hold: the rest is discarded.
            client.out.write(new byte[size]);
            RawClient.Answer answer = client.read();
            assertEquals(413, answer.status());
            assertEquals("large", answer.text());
            assertEquals(List.of("close"), answer.header("connection"));
            assertEquals(-1, client.in.read());
            assertEquals(new Outcome.Completed(413), relay.outcome());
            over.countDown();
        }
    }

    @Test
    void keepsTheConnectionWhereTheBodyIsHere() throws Exception {
        try (HttpEngine engine = HttpEngine.create(Map.of());
                HttpListener listener = refusing(engine);
                RawClient client = new RawClient(listener.port())) {
            for (int i = 0; i < 3; i++) {
                client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
                RawClient.Answer answer = client.read();
                assertEquals(413, answer.status());
                assertEquals(List.of(), answer.header("connection"));
            }
        }
    }

    @Test
    void isNotWaitedForWithoutEnd() throws Exception {
        try (HttpEngine engine = HttpEngine.create(Map.of());
                HttpListener listener = refusing(engine);
                RawClient client = new RawClient(listener.port())) {
            client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n");
            byte[] block = new byte[64 * 1024];
            client.out.write(block);
            assertEquals(413, client.read().status());
            assertThrows(IOException.class, () -> {
                for (long sent = 0; sent < 1_000_000_000; sent += block.length) {
                    client.out.write(block);
                }
            });
        }
    }
}
