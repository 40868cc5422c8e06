package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.ProcessTable;
import org.nemorelay.it.Relay;
import org.nemorelay.it.Reply;

/** What goes in comes out, to the byte, in both directions (B4, B12). */
@ExtendWith(Line.Shared.class)
@Timeout(60)
class ByteIdentityTest {
    private static final int SIZE = 300_000;

    /** Binary bytes, server-sent events of every shape, bare and doubled line ends. */
    private static byte[] corpus(long seed) {
        Random random = new Random(seed);
        ByteArrayOutputStream corpus = new ByteArrayOutputStream();
        String[] shapes = {
            ": comment\n\n",
            "event: message_start\r\ndata: {\"a\":1}\r\n\r\n",
            "id: 7\nretry: 100\ndata: one\ndata: two\n\n",
            "data:\n\n",
            "\n\n\n",
            "\r\n",
            "0\r\n\r\n",
            "data: \u4f60\ud83d\ude00\n\n"
        };
        while (corpus.size() < SIZE) {
            corpus.writeBytes(shapes[random.nextInt(shapes.length)].getBytes(StandardCharsets.UTF_8));
            byte[] binary = new byte[random.nextInt(700)];
            random.nextBytes(binary);
            corpus.writeBytes(binary);
        }
        return Arrays.copyOf(corpus.toByteArray(), SIZE);
    }

    private static List<byte[]> splits(byte[] corpus, long seed) {
        Random random = new Random(seed);
        List<byte[]> pieces = new ArrayList<>();
        for (int at = 0; at < corpus.length; ) {
            int length = switch (random.nextInt(4)) {
                case 0 -> 1;
                case 1 -> 1 + random.nextInt(17);
                case 2 -> 1 + random.nextInt(3_000);
                default -> 16_384 + random.nextInt(3);
            };
            pieces.add(Arrays.copyOfRange(corpus, at, Math.min(corpus.length, at + length)));
            at += length;
        }
        return pieces;
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, PASS_THROUGH", "H2C, WORKER"})
    void case111OddlySplitBodiesWithTrailers(Version version, Route route, Line line) throws Exception {
        exchange(line.provider(), route, () -> line.post(version, route, "/v1/responses"));
    }

    /** Asked as its daemon would ask. */
    @Test
    void oddlySplitBodiesWithTrailersByAWorkerAlone(@TempDir Path folder) throws Exception {
        try (OneUser bench = new OneUser(folder, "", Route.WORKER.at(""));
                Clients clients = new Clients();
                Relay relay = bench.daemon();
                ControlCut road = new ControlCut(relay.port());
                McpSession mcp = McpSession.start(bench.user.withToken(
                        bench.executable.toString(), "daemon", "mcp", "--daemon-address", road.address()))) {
            mcp.initialize();
            relay.awaitReadyWorker(mcp);
            int worker = ProcessTable.listeningPorts(bench.workers().getFirst().pid())
                    .getFirst();
            String token = "x-nemo-relay-worker-token: " + road.dataToken();
            for (Version version : Version.values()) {
                exchange(bench.provider, Route.WORKER, () -> clients.post(version, worker, "/v1/responses", token));
            }
            assertEquals(0, mcp.end());
        }
    }

    private static void exchange(MockProvider provider, Route route, Callable<Call> begin) throws Exception {
        byte[] up = corpus(1);
        byte[] down = corpus(2);
        CompletableFuture<byte[]> received = new CompletableFuture<>();
        List<String> trailersUp = new ArrayList<>();
        provider.script(route.at("/v1/responses"), (head, connection) -> {
            received.complete(connection.body(head, trailersUp));
            Reply reply = connection.reply().head(200, "content-type: text/event-stream", "transfer-encoding: chunked");
            for (byte[] piece : splits(down, 3)) {
                reply.chunk(piece);
            }
            reply.end("X-Sum: a", "X-Other: o", "X-Sum: b", "X-Sum: a");
        });
        try (Call call = begin.call()) {
            int number = 0;
            for (byte[] piece : splits(up, 4)) {
                call.data(piece);
                if (number++ % 10 == 0) {
                    call.data(new byte[0]);
                }
            }
            call.end("x-up: 1", "x-up: 2");
            Call.Head head = call.head();
            assertEquals(200, head.status());
            assertEquals(List.of("text/event-stream"), head.header("content-type"));
            assertArrayEquals(down, call.rest());
            assertEquals(List.of("x-sum: a", "x-other: o", "x-sum: b", "x-sum: a"), call.trailers());
            assertArrayEquals(up, received.get(5, TimeUnit.SECONDS));
            assertEquals(
                    List.of("x-up: 1", "x-up: 2"),
                    trailersUp.stream()
                            .map(trailer -> trailer.toLowerCase(Locale.ROOT))
                            .toList());
        }
    }

    @ParameterizedTest
    @CsvSource({"HTTP_1_1, PASS_THROUGH", "HTTP_1_1, WORKER", "H2C, PASS_THROUGH", "H2C, WORKER"})
    void sizedBodiesKeepTheirLengthAndLoseWhatIsHopByHop(Version version, Route route, Line line) throws Exception {
        byte[] up = corpus(5);
        byte[] down = corpus(6);
        CompletableFuture<MockProvider.Received> head = new CompletableFuture<>();
        CompletableFuture<byte[]> received = new CompletableFuture<>();
        line.provider().script(route.at("/v1/chat/completions"), (request, connection) -> {
            head.complete(request);
            received.complete(connection.body(request, new ArrayList<>()));
            connection
                    .reply()
                    .head(
                            200,
                            "content-length: " + SIZE,
                            "connection: x-hop",
                            "x-hop: dropped",
                            "keep-alive: timeout=5",
                            "set-cookie: a=1",
                            "set-cookie: b=2")
                    .raw(down);
        });
        try (Call call = line.send(
                version,
                route,
                "/v1/chat/completions?x=%2F",
                up,
                "content-length: " + SIZE,
                "x-many: a",
                "x-many: b")) {
            Call.Head answer = call.head();
            assertEquals(List.of(Integer.toString(SIZE)), answer.header("content-length"));
            assertEquals(List.of("a=1", "b=2"), answer.header("set-cookie"));
            assertEquals(List.of(), answer.header("x-hop"));
            assertEquals(List.of(), answer.header("keep-alive"));
            assertArrayEquals(down, call.rest());
            assertArrayEquals(up, received.get(5, TimeUnit.SECONDS));
            MockProvider.Received request = head.get();
            assertEquals(route.at("/v1/chat/completions?x=%2F"), request.target());
            assertEquals(List.of(Integer.toString(SIZE)), request.header("content-length"));
            assertEquals(List.of(), request.header("transfer-encoding"));
            assertEquals(List.of("a", "b"), request.header("x-many"));
        }
    }
}
