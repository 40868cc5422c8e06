package org.nemorelay.it.process;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.nemorelay.it.McpSession;
import org.nemorelay.it.MockProvider;
import org.nemorelay.it.PluginJar;
import org.nemorelay.it.Relay;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.StreamIntercept;

/**
 * A plugin rewrites bodies that have a content coding, from the agent through daemon and worker to the provider and back: what it
 * leaves alone keeps its bytes and headers, what it changes is plain and has its own length, errors included (B7, B12).
 */
@Timeout(120)
class EncodedBodiesThroughPluginsTest {
    private static final String TEXT = "{\"choices\":[{\"message\":{\"content\":\"hi\"}}], \"n\":1.0}";
    private static final String EVENT =
            "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}], \"n\":1.0}\n\n";

    @TempDir
    Path folder;

    /** Changes request and answer as the request's header wants it. */
    public static final class Editing implements ExecutionIntercept {
        public Editing(Map<String, Object> properties) {}

        @Override
        public CompletionStage<ModelResponse> execute(ModelRequest request, Next next) {
            String edit = request.headers().first("x-edit").orElse("none");
            return next.proceed(edit.equals("none") ? request : request.withBody(edited(request.body(), edit, "{}")))
                    .thenApply(response -> edit.equals("none") || !(response instanceof ModelResponse.Whole whole)
                            ? response
                            : whole.withBody(edited(whole.body(), edit, "")));
        }

        private static JsonText edited(JsonText body, String edit, String empty) {
            return switch (edit) {
                case "longer" -> body.with("/x", "y".repeat(1_000));
                case "shorter" -> body.without("/n");
                default -> JsonText.of(empty);
            };
        }

        @Override
        public boolean needsBody() {
            return true;
        }
    }

    private static byte[] coded(String coding, String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (var out = coding.equals("gzip") ? new GZIPOutputStream(bytes) : new DeflaterOutputStream(bytes)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    private static String edited(String text, String edit, String empty) {
        return switch (edit) {
            case "longer" -> text.substring(0, text.length() - 1) + ",\"x\":\"" + "y".repeat(1_000) + "\"}";
            case "shorter" -> text.replace(", \"n\":1.0", "");
            default -> empty;
        };
    }

    private static void answers(MockProvider provider, String coding) throws IOException {
        byte[] json = coded(coding, TEXT);
        byte[] events = coded(coding, EVENT.repeat(3));
        provider.respond("/v1/chat/completions", (request, reply) -> {
            if (request.header("x-stream").isEmpty()) {
                reply.head(
                                Integer.parseInt(request.header("x-status").getFirst()),
                                "content-type: application/json",
                                "content-encoding: " + coding,
                                "connection: x-hop",
                                "x-hop: 1",
                                "content-length: " + json.length)
                        .raw(json);
            } else {
                reply.head(
                        200,
                        "content-type: text/event-stream",
                        "content-encoding: " + coding,
                        "transfer-encoding: chunked");
                // Cut where no event ends.
                reply.chunk(java.util.Arrays.copyOf(events, 11))
                        .chunk(java.util.Arrays.copyOfRange(events, 11, events.length))
                        .end();
            }
        });
    }

    @Test
    void whatIsChangedIsPlainAndWhatIsNotKeepsItsBytes() throws Exception {
        try (OneUser bench = new OneUser(folder, """
                [[components]]
                kind = "editing"
                [[components]]
                kind = "capitals"
                """);
                Clients clients = new Clients()) {
            Path plugins = bench.executable.resolve("../../etc/plugins").normalize();
            new PluginJar("editing", Editing.class, ExecutionIntercept.class).deploy(plugins);
            new PluginJar("capitals", Capitals.class, StreamIntercept.class).deploy(plugins);
            try (Relay relay = bench.daemon();
                    McpSession mcp = McpSession.initialized(bench.user, bench.executable, relay)) {
                relay.awaitReadyWorker(mcp);
                String token = "x-nemo-relay-client-token: " + bench.user.token();
                for (Version version : Version.values()) {
                    for (String coding : List.of("gzip", "deflate")) {
                        answers(bench.provider, coding);
                        for (int status : new int[] {200, 404, 500}) {
                            for (String edit : List.of("none", "longer", "shorter", "empty")) {
                                whole(bench, clients, version, relay.port(), coding, status, edit, token);
                            }
                        }
                        byte[] body = "{}".getBytes(StandardCharsets.UTF_8);
                        try (Call call = clients.post(
                                        version, relay.port(), "/v1/chat/completions", "x-stream: 1", token)
                                .data(body)
                                .end()) {
                            Call.Head head = call.head();
                            assertEquals(List.of(), head.header("content-encoding"));
                            String plain = EVENT.replace("hi", "HI").repeat(3);
                            assertEquals(plain, new String(call.rest(), StandardCharsets.UTF_8));
                            // Its own, where the whole stream was there before the head left.
                            assertTrue(head.header("content-length").stream()
                                    .allMatch(Integer.toString(plain.length())::equals));
                        }
                    }
                }
                badRequests(bench, clients, relay.port(), token);
            }
        }
    }

    private static void whole(
            OneUser bench,
            Clients clients,
            Version version,
            int port,
            String coding,
            int status,
            String edit,
            String token)
            throws IOException {
        String what = version + " " + coding + " " + status + " " + edit;
        byte[] sent = coded(coding, TEXT);
        try (Call call = clients.post(
                        version,
                        port,
                        "/v1/chat/completions",
                        "content-encoding: " + coding,
                        "x-status: " + status,
                        "x-edit: " + edit,
                        "accept-encoding: br, " + coding,
                        token)
                .data(sent)
                .end()) {
            Call.Head head = call.head();
            byte[] got = call.rest();
            MockProvider.Received received =
                    bench.provider.received("/v1/chat/completions").getLast();
            assertEquals(status, head.status(), what);
            assertEquals(List.of(), head.header("x-hop"), what);
            assertEquals(List.of(coding), received.header("accept-encoding"), what);
            if (edit.equals("none")) {
                assertArrayEquals(sent, received.body(), what);
                assertEquals(List.of(coding), received.header("content-encoding"), what);
                assertArrayEquals(sent, got, what);
                assertEquals(List.of(coding), head.header("content-encoding"), what);
            } else {
                assertEquals(edited(TEXT, edit, "{}"), received.bodyText(), what);
                assertEquals(List.of(), received.header("content-encoding"), what);
                assertEquals(edited(TEXT, edit, ""), new String(got, StandardCharsets.UTF_8), what);
                assertEquals(List.of(), head.header("content-encoding"), what);
            }
            assertEquals(List.of(Integer.toString(received.body().length)), received.header("content-length"), what);
            assertEquals(List.of(Integer.toString(got.length)), head.header("content-length"), what);
        }
    }

    /** B9: unknown coding, corrupt, larger than the cap when plain; none of it reaches the provider. */
    private static void badRequests(OneUser bench, Clients clients, int port, String token) throws IOException {
        int before = bench.provider.received().size();
        byte[] bomb = coded("gzip", "{\"a\":\"" + "x".repeat(120 << 20) + "\"}");
        assertTrue(bomb.length < 1 << 20);
        record Bad(String coding, byte[] body, int status) {}
        for (Bad bad : List.of(
                new Bad("br", new byte[] {1, 2, 3}, 415),
                new Bad("zstd", HexFormat.of().parseHex("28b52ffdffffffff"), 400),
                new Bad("gzip", new byte[] {1, 2, 3}, 400),
                new Bad("gzip, gzip", coded("gzip", "{}"), 400),
                new Bad("gzip", bomb, 413))) {
            for (Version version : Version.values()) {
                try (Call call = clients.post(
                                version, port, "/v1/chat/completions", "content-encoding: " + bad.coding(), token)
                        .data(bad.body())
                        .end()) {
                    assertEquals(bad.status(), call.head().status(), bad.coding());
                }
            }
        }
        assertEquals(before, bench.provider.received().size());
    }
}
