package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.nemorelay.it.RawHttp;

/** A harness that tries a WebSocket first learns at once that there is none (B10). */
@ExtendWith(Line.Shared.class)
@Timeout(60)
class WebSocketProbeTest {
    @ParameterizedTest
    @ValueSource(strings = {"/responses", "/v1/responses", "/backend-api/codex/responses"})
    void isAnswered426AndAPlainGet405(String path, Line line) {
        for (Route route : Route.values()) {
            long start = System.nanoTime();
            RawHttp.Answer probe = RawHttp.get(
                    line.relay.port(),
                    path,
                    route.headers(
                            line.bench.user,
                            "Connection: Upgrade",
                            "Upgrade: WebSocket",
                            "Sec-WebSocket-Version: 13",
                            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="));
            assertEquals(426, probe.status());
            assertEquals("", probe.text());
            assertTrue(Duration.ofNanos(System.nanoTime() - start).toMillis() < 1_000);
            assertEquals(
                    405,
                    RawHttp.get(line.relay.port(), path, route.headers(line.bench.user))
                            .status());
        }
    }
}
