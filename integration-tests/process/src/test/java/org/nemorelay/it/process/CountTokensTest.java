package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.Await;
import org.nemorelay.it.Events;

/** Editors count tokens by the dozen: all at once, with their query, and no turn of the model (B17). */
@ExtendWith(Line.OfOneClass.class)
@Timeout(60)
class CountTokensTest {
    private static final int CALLS = 50;

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, WORKER"})
    void fiftyAtOnce(Version version, Route route, Line line) throws Exception {
        long before = recorded(line, "end");
        CountDownLatch together = new CountDownLatch(CALLS);
        List<String> targets = new ArrayList<>();
        line.provider().respond(route.at("/v1/messages/count_tokens"), (request, reply) -> {
            synchronized (targets) {
                targets.add(request.target());
            }
            together.countDown();
            // None is answered before all are here.
            boolean all = together.await(20, TimeUnit.SECONDS);
            reply.sized(all ? 200 : 504, "application/json", request.bodyText());
        });
        List<Call> calls = new ArrayList<>();
        try {
            for (int i = 0; i < CALLS; i++) {
                calls.add(line.send(
                        version,
                        route,
                        "/v1/messages/count_tokens?beta=true",
                        body(i).getBytes(StandardCharsets.UTF_8)));
            }
            for (int i = 0; i < CALLS; i++) {
                assertEquals(200, calls.get(i).head().status(), "call " + i);
                assertEquals(body(i), new String(calls.get(i).rest(), StandardCharsets.UTF_8));
            }
        } finally {
            calls.forEach(Call::close);
        }
        assertEquals(CALLS, targets.size());
        assertEquals(
                List.of(route.at("/v1/messages/count_tokens?beta=true")),
                targets.stream().distinct().toList());
        if (route == Route.WORKER) {
            // A request that is recorded, and nothing before it.
            line.provider()
                    .respond(
                            route.at("/v1/messages"),
                            (request, reply) -> reply.sized(200, "application/json", "{\"type\":\"message\"}"));
            try (Call call = line.send(version, route, "/v1/messages", "{}".getBytes(StandardCharsets.UTF_8))) {
                assertEquals(200, call.head().status());
                call.rest();
            }
            Await.until("the request is recorded", Duration.ofSeconds(10), () -> recorded(line, "end") == before + 1);
            assertEquals(before + 1, recorded(line, "start"));
        }
    }

    private static long recorded(Line line, String category) {
        return Events.in(line.bench.events).stream()
                .filter(Events.scope("anthropic.messages", category))
                .count();
    }

    private static String body(int tokens) {
        return "{\"input_tokens\":" + (1_000 + tokens) + "}";
    }
}
