package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Content codings are the ends' affair: neither body nor header changes, errors included (B7, B9). */
@ExtendWith(Line.Shared.class)
@Timeout(60)
class EncodedBodiesTest {
    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (GZIPOutputStream zip = new GZIPOutputStream(bytes)) {
            zip.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    @ParameterizedTest
    @EnumSource
    void answersInGzip(Route route, Line line) throws Exception {
        byte[] json = gzip("{\"error\":{\"message\":\"no such model\"}}");
        byte[] events = gzip("event: a\ndata: 1\n\n");
        line.provider().respond(route.at("/v1/messages"), (request, reply) -> {
            int status = Integer.parseInt(request.header("x-status").getFirst());
            if (request.header("x-stream").isEmpty()) {
                reply.head(status, "content-encoding: gzip", "content-length: " + json.length)
                        .raw(json);
            } else {
                reply.head(
                                status,
                                "content-type: text/event-stream",
                                "content-encoding: gzip",
                                "transfer-encoding: chunked")
                        .chunk(events)
                        .end();
            }
        });
        for (Version version : Version.values()) {
            for (String status : List.of("200", "404", "500")) {
                try (Call call = line.send(version, route, "/v1/messages", new byte[0], "x-status: " + status)) {
                    Call.Head head = call.head();
                    assertEquals(status, Integer.toString(head.status()));
                    assertEquals(List.of("gzip"), head.header("content-encoding"));
                    assertEquals(List.of(Integer.toString(json.length)), head.header("content-length"));
                    assertArrayEquals(json, call.rest());
                }
            }
            try (Call call = line.send(version, route, "/v1/messages", new byte[0], "x-status: 200", "x-stream: 1")) {
                assertEquals(List.of("gzip"), call.head().header("content-encoding"));
                assertArrayEquals(events, call.rest());
            }
        }
    }

    @ParameterizedTest
    @EnumSource
    void requestsInAnyCoding(Route route, Line line) throws Exception {
        // A frame of zstd for "{}", and what is none.
        byte[] zstd = HexFormat.of().parseHex("28b52ffd20021100007b7d");
        byte[] corrupt = HexFormat.of().parseHex("28b52ffdffffffff");
        record Case(String coding, byte[] body) {}
        for (Case sent : List.of(
                new Case("zstd", zstd),
                new Case("zstd", corrupt),
                new Case("gzip", gzip("{}")),
                new Case("deflate", new byte[] {1, 2, 3}),
                new Case("gzip, zstd", zstd),
                new Case("unheard-of", corrupt))) {
            CompletableFuture<byte[]> received = new CompletableFuture<>();
            CompletableFuture<List<String>> coding = new CompletableFuture<>();
            line.provider().script(route.at("/v1/responses"), (head, connection) -> {
                coding.complete(head.header("content-encoding"));
                received.complete(connection.body(head, new ArrayList<>()));
                connection.reply().sized(200, "application/json", "{}");
            });
            for (Version version : Version.values()) {
                try (Call call = line.send(
                        version,
                        route,
                        "/v1/responses",
                        sent.body(),
                        "content-type: application/json",
                        "content-encoding: " + sent.coding())) {
                    assertEquals(200, call.head().status());
                    assertEquals("{}", call.read(2));
                    assertArrayEquals(sent.body(), received.get(5, TimeUnit.SECONDS));
                    assertEquals(List.of(sent.coding()), coding.get());
                }
            }
        }
    }
}
