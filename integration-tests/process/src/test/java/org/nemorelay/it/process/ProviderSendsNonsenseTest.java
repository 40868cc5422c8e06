package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A provider that sends garbage, half a head, a wrong length, or nothing: 502 in one line, and the route stays as it was. */
@ExtendWith(Line.OfOneClass.class)
@Timeout(60)
class ProviderSendsNonsenseTest {
    private static final List<String> NONSENSE = List.of(
            "",
            "\u0000\u0001garbage\r\n\r\n",
            "HTTP/1.1 200 OK\r\ncontent-ty",
            "HTTP/1.1 2x0 OK\r\n\r\n",
            "HTTP/1.1 0 OK\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.1 99 OK\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.1 1000 OK\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.1 103 Early\r\nx",
            "HTTP/1.1 103 Early\r\nx y: 1\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\n" + "a: b\r\n".repeat(2_000) + "content-length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\nok",
            "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\nok",
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nx: a\u0000b\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nx: " + "a".repeat(300_000) + "\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nconnection: a b\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.1 200 OK\r\nx: " + "a".repeat(262_130) + "\r\ncontent-length: 2\r\n\r\nok",
            "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");

    @ParameterizedTest
    @EnumSource
    void is502AndTheRouteStays(Route route, Line line) throws Exception {
        String worker = line.relay.workers().getFirst().string("worker_id");
        for (Version version : Version.values()) {
            for (String nonsense : NONSENSE) {
                line.provider().script(route.at("/v1/messages"), (head, connection) -> {
                    connection.body(head, new ArrayList<>());
                    connection.reply().raw(nonsense);
                });
                String name = version + " " + nonsense.substring(0, Math.min(60, nonsense.length()));
                try (Call call = line.send(version, route, "/v1/messages", new byte[] {'{', '}'})) {
                    assertEquals(502, call.head().status(), name);
                    String body = new String(call.rest(), StandardCharsets.UTF_8);
                    assertTrue(body.startsWith("{\"error\":{\"message\":\""), name + ": " + body);
                }
            }
            line.provider()
                    .respond(route.at("/v1/messages"), (request, reply) -> reply.sized(200, "application/json", "{}"));
            try (Call call = line.send(version, route, "/v1/messages", new byte[] {'{', '}'})) {
                assertEquals(200, call.head().status());
                assertEquals("{}", new String(call.rest(), StandardCharsets.UTF_8));
            }
        }
        assertEquals(worker, line.relay.workers().getFirst().string("worker_id"));
        assertEquals("ready", line.relay.workers().getFirst().string("state"));
    }
}
