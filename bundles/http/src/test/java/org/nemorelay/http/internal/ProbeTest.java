package org.nemorelay.http.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.concurrent.CompletionException;
import org.eclipse.jetty.http.HttpField;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.Origin;
import org.nemorelay.http.WireProtocol;
import org.nemorelay.protocol.RelayException;

/** Why a probe has no status, in words about the server and nothing else. */
@Timeout(60)
final class ProbeTest {
    private final HttpEngine engine = HttpEngine.create(Map.of());

    private String problem(String origin, WireProtocol protocol) {
        CompletionException failure = assertThrows(
                CompletionException.class,
                () -> engine.status(Origin.of(origin), protocol, "/", new HttpField("x-token", "t"), 1_000)
                        .join());
        return ((RelayException) failure.getCause()).getMessage();
    }

    private String problem(String sent) throws Exception {
        try (RawProvider server = new RawProvider(exchange -> {
            exchange.head();
            exchange.send(sent);
        })) {
            return problem(server.origin(), WireProtocol.HTTP_1_1);
        }
    }

    @Test
    void isSaidInWords() throws Exception {
        try (engine) {
            String closed = "it closed the connection without an answer";
            assertEquals(closed, problem(""));
            assertEquals("its answer is no valid HTTP", problem("HTTP/1.1 204 No Con"));
            assertEquals("its answer is no valid HTTP", problem("garbage\r\n\r\n"));
            assertEquals("its answer is no valid HTTP", problem("HTTP/1.1 204\r\n: x\r\n\r\n"));
            try (RawProvider silent = new RawProvider(RawProvider.Exchange::peerCloses)) {
                assertEquals("it did not answer within 1 s", problem(silent.origin(), WireProtocol.HTTP_1_1));
            }
            try (RawProvider closing =
                    new RawProvider(exchange -> exchange.socket().close())) {
                assertEquals(closed, problem(closing.origin(), WireProtocol.H2C));
            }
            int port;
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = free.getLocalPort();
            }
            assertEquals("Connection refused", problem("http://127.0.0.1:" + port, WireProtocol.HTTP_1_1));
        }
    }
}
