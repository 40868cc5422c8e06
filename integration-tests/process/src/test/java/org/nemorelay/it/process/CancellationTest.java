package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Events;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.Reply;

/** A client that leaves is felt by the provider within a second, through every hop (B13). */
@ExtendWith(Line.Shared.class)
@Timeout(60)
class CancellationTest {
    private static final String EVENT = "data: 1\n\n";

    private interface Beginning {
        void answer(Reply reply) throws Exception;
    }

    private static void cancelled(Version version, Route route, Line line, Beginning beginning, int read)
            throws Exception {
        long recorded = cancelled(line);
        long logged = logged(line, route);
        CompletableFuture<Void> begun = new CompletableFuture<>();
        CompletableFuture<Long> closed = new CompletableFuture<>();
        line.provider().script(route.at("/v1/messages"), (MockProvider.Received head, MockProvider.Connection it) -> {
            it.body(head, new ArrayList<>());
            beginning.answer(it.reply());
            begun.complete(null);
            it.untilClosed();
            closed.complete(System.nanoTime());
        });
        long left;
        try (Call call = line.send(version, route, "/v1/messages", new byte[0])) {
            begun.get(10, TimeUnit.SECONDS);
            if (read > 0) {
                assertEquals(200, call.head().status());
                call.read(read);
            }
            left = System.nanoTime();
        }
        Duration delay = Duration.ofNanos(closed.get(10, TimeUnit.SECONDS) - left);
        assertTrue(delay.toMillis() < 1_000, delay.toString());
        line.awaitNothingInFlight();
        Await.until(
                "the daemon's log has one line of it", Duration.ofSeconds(10), () -> logged(line, route) == logged + 1);
        if (route == Route.WORKER) {
            Await.until(
                    "one more exchange is recorded as cancelled by its client",
                    Duration.ofSeconds(10),
                    () -> cancelled(line) == recorded + 1);
        }
    }

    private static long logged(Line line, Route route) {
        String mode = route == Route.WORKER ? "route_mode=worker" : "route_mode=pass_through";
        return line.relay
                .process()
                .stderr()
                .lines()
                .filter(text -> text.contains("event=public_request_cancelled") && text.contains(mode))
                .count();
    }

    private static long cancelled(Line line) {
        return Events.in(line.bench.events).stream()
                .filter(event -> event.values().toString().contains("terminal=cancelled"))
                .count();
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, PASS_THROUGH", "H2C, WORKER"})
    void beforeTheHead(Version version, Route route, Line line) throws Exception {
        cancelled(version, route, line, reply -> {}, 0);
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, PASS_THROUGH", "H2C, WORKER"})
    void case113AfterThreeEvents(Version version, Route route, Line line) throws Exception {
        cancelled(
                version,
                route,
                line,
                reply -> {
                    reply.head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
                    reply.chunk(EVENT).chunk(EVENT).chunk(EVENT);
                },
                3 * EVENT.length());
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, PASS_THROUGH", "H2C, WORKER"})
    void withinASizedAnswer(Version version, Route route, Line line) throws Exception {
        cancelled(
                version,
                route,
                line,
                reply -> reply.head(200, "content-type: application/json", "content-length: 100")
                        .raw("{\"half\":"),
                8);
    }
}
