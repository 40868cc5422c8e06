package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Events;

/** A provider that dies within its answer never leaves an answer that looks complete (B14). */
@ExtendWith(Line.OfOneClass.class)
@Timeout(60)
class ProviderBreaksOffTest {
    private static final String EVENTS = "data: 1\n\ndata: 2\n\n";

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, PASS_THROUGH", "H2C, WORKER"})
    void aResetWithinAStreamBreaksTheClientsStream(Version version, Route route, Line line) throws Exception {
        CountDownLatch release = new CountDownLatch(1);
        line.provider().script(route.at("/v1/messages"), (head, connection) -> {
            connection.body(head, new ArrayList<>());
            connection
                    .reply()
                    .head(200, "content-type: text/event-stream", "transfer-encoding: chunked")
                    .chunk("data: 1\n\n")
                    .chunk("data: 2\n\n");
            release.await();
            connection.reset();
        });
        try (Call call = line.send(version, route, "/v1/messages", new byte[0])) {
            assertEquals(200, call.head().status());
            assertEquals(EVENTS, call.read(EVENTS.length()));
            release.countDown();
            assertThrows(IOException.class, call::rest);
        }
        line.awaitNothingInFlight();
        if (route == Route.WORKER) {
            Events.await(
                    line.bench.events,
                    "of an answer that the provider broke off",
                    event -> event.values().toString().contains("terminal=body_error"));
        }
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, PASS_THROUGH", "H2C, WORKER"})
    void tenBytesTooFewBreakTheClientsBody(Version version, Route route, Line line) throws Exception {
        line.provider().script(route.at("/v1/messages"), (head, connection) -> {
            connection.body(head, new ArrayList<>());
            connection.reply().head(200, "content-length: 20").raw("0123456789");
        });
        try (Call call = line.send(version, route, "/v1/messages", new byte[0])) {
            assertThrows(IOException.class, () -> {
                call.head();
                call.rest();
            });
        }
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, PASS_THROUGH", "H2C, WORKER"})
    void beforeItsHeadItIs502(Version version, Route route, Line line) throws Exception {
        line.provider().script(route.at("/v1/messages"), (head, connection) -> {
            connection.body(head, new ArrayList<>());
            connection.reset();
        });
        try (Call call = line.send(version, route, "/v1/messages", new byte[0], "x-api-key: very-secret")) {
            assertEquals(502, call.head().status());
            String body = new String(call.rest(), StandardCharsets.UTF_8);
            assertTrue(body.startsWith("{\"error\":{\"message\":\""), body);
            assertFalse(body.contains("secret") || body.contains("\\n"), body);
        }
    }
}
