package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.BlockingDeque;
import java.util.concurrent.LinkedBlockingDeque;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.Forwarder;
import org.nemorelay.http.Outcome;

/** Requests that plugins have for a while: watched when they come, forwarded later and by another thread. */
@Timeout(60)
final class HeldRequestTest {
    private final BlockingDeque<Runnable> held = new LinkedBlockingDeque<>();

    private Relay relay(RawProvider provider) {
        return new Relay(provider.origin(), Map.of(), (request, forward) -> {
            Forwarder.watch(request);
            held.add(forward);
        });
    }

    private void forward() throws InterruptedException {
        Runnable next = held.poll(5, TimeUnit.SECONDS);
        assertTrue(next != null, "a request comes");
        next.run();
    }

    /** After which the listener has come upon what was sent before. */
    private void anotherRequestComes(Relay relay) throws Exception {
        int before = held.size();
        try (RawClient other = new RawClient(relay.port())) {
            other.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
            Relay.await("another request", () -> held.size() > before);
            held.removeLast();
        }
    }

    private static RawProvider echo() throws Exception {
        return new RawProvider(exchange -> {
            for (String head = exchange.head(); head != null; head = exchange.head()) {
                byte[] body = exchange.body(head);
                exchange.send("HTTP/1.1 200 OK\r\nContent-Length: " + body.length + "\r\n\r\n");
                exchange.out().write(body);
                exchange.out().flush();
            }
        });
    }

    @Test
    void aClientThatHasLeftIsNoticed() throws Exception {
        try (RawProvider provider = new RawProvider(RawProvider.Exchange::peerCloses);
                Relay relay = relay(provider)) {
            RawClient client = new RawClient(relay.port());
            client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}");
            Relay.await("the request", () -> !held.isEmpty());
            client.close();
            forward();
            assertEquals(new Outcome.ClientCancelled(), relay.outcome());
        }
    }

    @Test
    void aBodyThatComesMeanwhileIsWhole() throws Exception {
        for (int size : new int[] {0, 2, 511, 512, 513, 200_000}) {
            byte[] body = new byte[size];
            new Random(size).nextBytes(body);
            try (RawProvider provider = echo();
                    Relay relay = relay(provider);
                    RawClient client = new RawClient(relay.port())) {
                client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: " + size + "\r\n\r\n");
                Relay.await("the request", () -> !held.isEmpty());
                client.out.write(body);
                client.out.flush();
                anotherRequestComes(relay);
                forward();
                assertArrayEquals(body, client.read().body());
            }
        }
    }

    @Test
    void thenTheNextRequestIsServed() throws Exception {
        try (RawProvider provider = echo();
                Relay relay = relay(provider);
                RawClient client = new RawClient(relay.port())) {
            String request = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n";
            client.send(request + "{}");
            Relay.await("the request", () -> !held.isEmpty());
            client.send(request + "[]");
            forward();
            assertEquals("{}", client.read().text());
            forward();
            assertEquals("[]", client.read().text());
            client.send(request + "ok");
            forward();
            assertEquals("ok", client.read().text());
        }
    }

    @Test
    void aBodyThatIsHereIsNotAskedFor() throws Exception {
        try (RawProvider provider = echo();
                Relay relay = relay(provider);
                RawClient client = new RawClient(relay.port())) {
            boolean unasked = false;
            // On a busy machine the body may come too late.
            for (int i = 0; i < 20; i++) {
                client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
                Relay.await("the request", () -> !held.isEmpty());
                client.send("{}");
                if (i % 2 == 0) {
                    anotherRequestComes(relay);
                }
                forward();
                RawClient.Answer got = client.read();
                unasked |= got.status() == 200;
                assertEquals("{}", (got.status() == 100 ? client.read() : got).text());
            }
            assertTrue(unasked, "a body that comes after its head is noticed");
        }
    }

    @Test
    void aClientThatStaysSilentIsAskedForItsBody() throws Exception {
        try (RawProvider provider = echo();
                Relay relay = relay(provider);
                RawClient client = new RawClient(relay.port())) {
            client.send("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
            forward();
            assertEquals(100, client.read().status());
            client.out.write("{}".getBytes(StandardCharsets.US_ASCII));
            assertEquals("{}", client.read().text());
        }
    }
}
