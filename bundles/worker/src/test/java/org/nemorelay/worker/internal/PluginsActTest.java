package org.nemorelay.worker.internal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import java.util.zip.GZIPOutputStream;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.Upstreams;
import org.nemorelay.json.JsonText;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pipeline.Stage;
import org.nemorelay.pipeline.StageThreads;
import org.nemorelay.pipeline.Stages;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.Part;
import org.nemorelay.plugin.api.RequestGuardrail;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.worker.internal.hook.HookPayload;

/** Plugins between an agent and a provider, both byte-level: what each of them sends and gets (B2, B7, B9, B12). */
@Timeout(60)
final class PluginsActTest {
    private static final String BODY = "{ \"model\":\"m\", \"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";
    private static final String EVENT = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n";

    /** More than sockets hold. */
    private static final long ENDLESS = 100_000_000;

    private final HttpEngine engine = HttpEngine.create(Map.of());
    private final MemoryLog log = new MemoryLog();
    private final StageThreads threads = new StageThreads(log, System::nanoTime);
    private final Admission admission = new Admission();
    private final List<String> recorded = new CopyOnWriteArrayList<>();
    private volatile Snapshot snapshot = Snapshot.NONE;
    private final FakeProvider provider = new FakeProvider((in, out) -> out.write(
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}"
                    .getBytes()));
    private final HttpListener worker;

    PluginsActTest() throws Exception {
        Observation observation = new Observation() {
            @Override
            public CompletableFuture<Void> hook(HookPayload hook, int bytes, Ruling ruling) {
                return CompletableFuture.completedFuture(null);
            }

            @Override
            public ExchangeListener exchange(String path, Supplier<HttpFields> headers, Optional<byte[]> body) {
                recorded.add("sent " + body.map(bytes -> new String(bytes, StandardCharsets.UTF_8)));
                return new ExchangeListener() {
                    @Override
                    public void end(Outcome outcome) {
                        recorded.add(outcome.getClass().getSimpleName());
                    }
                };
            }

            @Override
            public void refused(String path, HttpFields headers, Optional<byte[]> body, List<Clearance.Check> checks) {
                recorded.add("refused " + checks.size());
            }
        };
        DataPlane dataPlane = new DataPlane(
                admission,
                engine.forwarder(),
                new Upstreams(new Upstreams.Settings(provider.url() + "/v1", "", "", "", ""), Map.of()),
                () -> snapshot,
                observation,
                new UpstreamFailureLog(log, "worker", System::nanoTime),
                100_000,
                10_000,
                0);
        worker = engine.listen("127.0.0.1", 0, server -> dataPlane);
        admission.issued(new Secret("token"));
        assertTrue(exchange("GET /_nemo-relay/worker/v1/ready", "", new byte[0]).startsWith("HTTP/1.1 204"));
    }

    @AfterEach
    void stop() throws IOException {
        worker.close();
        engine.close();
        provider.close();
        threads.close();
    }

    // ---- the provider

    private void answers(String head, byte[] body) {
        provider.script = (in, out) -> {
            out.write(("HTTP/1.1 " + head + "\r\nconnection: close\r\ncontent-length: " + body.length + "\r\n\r\n")
                    .getBytes());
            out.write(body);
        };
    }

    private static byte[] gzip(String text) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (OutputStream out = new GZIPOutputStream(bytes)) {
            out.write(text.getBytes(StandardCharsets.UTF_8));
        }
        return bytes.toByteArray();
    }

    // ---- the agent

    private Socket connect(String requestLine, String headers, byte[] body) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), worker.port());
        socket.setSoTimeout(20_000);
        socket.getOutputStream()
                .write((requestLine
                                + " HTTP/1.1\r\nHost: x\r\nX-Nemo-Relay-Worker-Token: token\r\n"
                                + headers + (body.length == 0 ? "" : "Content-Length: " + body.length + "\r\n")
                                + "\r\n")
                        .getBytes(StandardCharsets.UTF_8));
        socket.getOutputStream().write(body);
        return socket;
    }

    private byte[] raw(String requestLine, String headers, byte[] body) throws IOException {
        try (Socket socket = connect(requestLine, headers, body)) {
            return answer(socket.getInputStream());
        }
    }

    /** Head, names in lower case, and body as it is framed, up to its end or where it breaks off. */
    private static byte[] answer(InputStream in) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        String head = FakeProvider.head(in).toLowerCase(java.util.Locale.ROOT).replace("http/1.1", "HTTP/1.1");
        bytes.writeBytes(head.getBytes(StandardCharsets.ISO_8859_1));
        if (head.contains("transfer-encoding")) {
            while (!bytes.toString(StandardCharsets.ISO_8859_1).endsWith("0\r\n\r\n")) {
                int b = in.read();
                if (b < 0) {
                    break;
                }
                bytes.write(b);
            }
        } else {
            bytes.writeBytes(in.readNBytes(FakeProvider.length(head)));
        }
        return bytes.toByteArray();
    }

    private String exchange(String requestLine, String headers, byte[] body) throws IOException {
        return new String(raw(requestLine, headers, body), StandardCharsets.ISO_8859_1);
    }

    private String chat(String headers, String body) throws IOException {
        return exchange("POST /v1/chat/completions", headers, body.getBytes(StandardCharsets.UTF_8));
    }

    private static byte[] bodyOf(byte[] answer) {
        String text = new String(answer, StandardCharsets.ISO_8859_1);
        return text.substring(text.indexOf("\r\n\r\n") + 4).getBytes(StandardCharsets.ISO_8859_1);
    }

    // ---- the plugins

    private <S> Stage<S> stage(S service, boolean body) {
        return new Stage<>(service, threads.share("p"), 100, body);
    }

    private void stages(
            List<Stage<RequestGuardrail>> guardrails,
            List<Stage<RequestIntercept>> intercepts,
            List<Stage<ExecutionIntercept>> executions,
            List<Stage<StreamIntercept>> streams) {
        snapshot = new Snapshot(
                List.of(), List.of(), new Stages(guardrails, intercepts, executions, streams, List.of(), List.of()));
    }

    private void intercept(RequestIntercept intercept, boolean body) {
        stages(List.of(), List.of(stage(intercept, body)), List.of(), List.of());
    }

    private void execution(ExecutionIntercept intercept) {
        stages(List.of(), List.of(), List.of(stage(intercept, true)), List.of());
    }

    private void stream(StreamHandler handler) {
        stages(List.of(), List.of(), List.of(), List.of(stage((request, response) -> handler, false)));
    }

    @Test
    void headersAreRewrittenWhileTheBodyStreams() throws Exception {
        CountDownLatch seen = new CountDownLatch(1);
        intercept(
                request -> CompletableFuture.completedStage(request.withHeader("x-added", "1")
                        .withoutHeader("x-gone")
                        .withHeader("x-kept", "changed")),
                false);
        provider.script = (in, out) -> {
            seen.countDown();
            out.write("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{}".getBytes());
        };
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), worker.port())) {
            socket.getOutputStream()
                    .write(("POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nX-Nemo-Relay-Worker-Token: token\r\n"
                                    + "X-Gone: 1\r\nx-kept: 2\r\nAuthorization: Bearer k\r\nContent-Length: 0\r\n\r\n")
                            .getBytes());
            assertTrue(seen.await(10, TimeUnit.SECONDS));
        }
        String head = provider.requests.getLast();
        assertTrue(head.contains("x-added: 1"), head);
        assertTrue(head.contains("x-kept: changed"), head);
        assertTrue(head.contains("Authorization: Bearer k"), head);
        assertFalse(head.toLowerCase(java.util.Locale.ROOT).contains("x-gone"), head);
    }

    @Test
    void aDenialIsA403AndTheProviderSeesNothing() throws Exception {
        stages(
                List.of(stage(request -> CompletableFuture.completedStage(Decision.deny("not today")), false)),
                List.of(),
                List.of(),
                List.of());
        String answer = chat("", BODY);
        assertTrue(answer.startsWith("HTTP/1.1 403"), answer);
        assertTrue(answer.contains("\"reason\":\"not today\""), answer);
        assertTrue(exchange("POST /v1/models", "", new byte[0]).startsWith("HTTP/1.1 405"));
        assertEquals(List.of(), provider.requests);
        assertEquals(List.of("refused 1"), recorded);
    }

    @Test
    void aBodyIsMadeLongerShorterAndItsLengthFollows() throws Exception {
        for (String model : List.of("a-much-longer-name", "")) {
            intercept(request -> CompletableFuture.completedStage(request.withModel(model)), true);
            String answer = chat("Connection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: 5\r\n", BODY);
            assertTrue(answer.startsWith("HTTP/1.1 200"), answer);
            String sent = BODY.replace("\"m\"", "\"" + model + "\"");
            assertEquals(sent, new String(provider.bodies.getLast(), StandardCharsets.UTF_8));
            assertEquals(sent.length(), FakeProvider.length(provider.requests.getLast()));
            assertFalse(provider.requests
                    .getLast()
                    .toLowerCase(java.util.Locale.ROOT)
                    .contains("x-hop"));
            assertTrue(recorded.contains("sent Optional[" + sent + "]"), recorded.toString());
        }
    }

    @Test
    void anAnswerIsMadeLongerShorterEmptyAndItsLengthFollows() throws Exception {
        for (String text : List.of("a much longer text", "")) {
            execution((request, next) -> next.proceed(request).thenApply(response -> {
                ModelResponse.Whole whole = (ModelResponse.Whole) response;
                return whole.withText((Part.Text) whole.output().getFirst(), text);
            }));
            answers(
                    "200 OK\r\nconnection: x-hop\r\nx-hop: 1\r\netag: \"1\"",
                    "{\"choices\":[{\"message\":{\"content\":\"hi\"}}]}".getBytes());
            byte[] answer = raw("POST /v1/chat/completions", "", BODY.getBytes());
            byte[] body = bodyOf(answer);
            assertEquals("{\"choices\":[{\"message\":{\"content\":\"" + text + "\"}}]}", new String(body));
            String head = new String(answer, StandardCharsets.ISO_8859_1);
            assertEquals(body.length, FakeProvider.length(head.substring(0, head.indexOf("\r\n\r\n"))));
            assertFalse(head.contains("x-hop"), head);
            assertFalse(head.contains("etag"), head);
        }
    }

    @Test
    void aCompressedAnswerIsUntouchedOrPlain() throws Exception {
        String text = "{\"choices\":[{\"message\":{\"content\":\"hi\"}}]}";
        for (String status : List.of("200 OK", "404 Not Found")) {
            answers(status + "\r\ncontent-type: application/json\r\ncontent-encoding: gzip", gzip(text));
            execution((request, next) -> next.proceed(request));
            byte[] untouched = raw("POST /v1/chat/completions", "", BODY.getBytes());
            assertArrayEquals(gzip(text), bodyOf(untouched));
            assertTrue(new String(untouched, StandardCharsets.ISO_8859_1).contains("content-encoding: gzip"));
            execution((request, next) -> next.proceed(request).thenApply(response -> {
                ModelResponse.Whole whole = (ModelResponse.Whole) response;
                return whole.withBody(whole.body().with("/x", 1L));
            }));
            String changed = chat("accept-encoding: br, gzip;q=0.5\r\n", BODY);
            assertTrue(changed.startsWith("HTTP/1.1 " + status.substring(0, 3)), changed);
            assertTrue(changed.endsWith(text.substring(0, text.length() - 1) + ",\"x\":1}"), changed);
            assertFalse(changed.contains("content-encoding"), changed);
            assertTrue(
                    provider.requests
                            .getLast()
                            .toLowerCase(java.util.Locale.ROOT)
                            .contains("accept-encoding: gzip;q=0.5"),
                    provider.requests.getLast());
        }
    }

    @Test
    void aCompressedStreamIsReadableToAStreamIntercept() throws Exception {
        answers("200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip", gzip(EVENT.repeat(3)));
        stream((event, out) -> {
            out.emit(event.withText(event.texts().getFirst(), "b"));
            return StreamHandler.DONE;
        });
        String answer = chat("", BODY);
        assertFalse(answer.contains("content-encoding"), answer);
        assertEquals(3, answer.split("\"content\":\"b\"", -1).length - 1, answer);
    }

    @Test
    void aStreamGoesThroughEventByEventAsItComes() throws Exception {
        CountDownLatch first = new CountDownLatch(1);
        provider.script = (in, out) -> {
            out.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".getBytes());
            out.write(EVENT.getBytes());
            out.flush();
            first.await();
            out.write(EVENT.getBytes());
        };
        stream((event, out) -> {
            out.emit(event);
            return StreamHandler.DONE;
        });
        try (Socket socket = connect("POST /v1/chat/completions", "", BODY.getBytes())) {
            StringBuilder text = new StringBuilder();
            while (text.indexOf("data: ") < 0) {
                text.append((char) socket.getInputStream().read());
            }
            first.countDown();
            while (text.indexOf("0\r\n\r\n") < 0) {
                text.append((char) socket.getInputStream().read());
            }
            assertEquals(2, text.toString().split("data: ", -1).length - 1, text.toString());
        }
        Awaiting.await("record", () -> recorded.contains("Completed"));
    }

    /** A provider that never ceases; how much of it was taken. */
    private AtomicLong endless() {
        AtomicLong taken = new AtomicLong();
        provider.script = (in, out) -> {
            byte[] events = EVENT.repeat(200).getBytes();
            out.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".getBytes());
            while (true) {
                out.write(events);
                taken.addAndGet(events.length);
            }
        };
        return taken;
    }

    /** What has been taken when no more is, which sockets on the way hold as well: some megabytes each. */
    private static void assertHeldUp(AtomicLong taken) {
        long[] before = {-1, System.nanoTime()};
        Awaiting.await("the provider is held up", () -> {
            if (taken.get() != before[0] || before[0] == 0) {
                before[0] = taken.get();
                before[1] = System.nanoTime();
                assertTrue(before[0] < ENDLESS, "the provider is not held up");
            }
            return System.nanoTime() - before[1] > TimeUnit.MILLISECONDS.toNanos(300);
        });
    }

    @Test
    void anAgentThatDoesNotReadHoldsTheProviderUp() throws Exception {
        AtomicLong taken = endless();
        stream((event, out) -> {
            out.emit(event);
            return StreamHandler.DONE;
        });
        try (Socket socket = connect("POST /v1/chat/completions", "", BODY.getBytes())) {
            assertHeldUp(taken);
            assertEquals(1_000, socket.getInputStream().readNBytes(1_000).length);
        }
    }

    @Test
    void aPluginThatWaitsHoldsTheProviderUp() throws Exception {
        AtomicLong taken = endless();
        CompletableFuture<Void> goOn = new CompletableFuture<>();
        StreamHandler waiting = (event, out) -> {
            out.emit(event);
            return goOn;
        };
        // On a clock that stands still it may wait as long as the machine takes.
        try (StageThreads patient = new StageThreads(log, () -> 0)) {
            stages(
                    List.of(),
                    List.of(),
                    List.of(),
                    List.of(new Stage<>((request, response) -> waiting, patient.share("p"), 100, false)));
            try (Socket socket = connect("POST /v1/chat/completions", "", BODY.getBytes())) {
                assertTrue(FakeProvider.head(socket.getInputStream()).startsWith("HTTP/1.1 200"));
                assertHeldUp(taken);
                goOn.complete(null);
                assertEquals(100 * EVENT.length(), socket.getInputStream().readNBytes(100 * EVENT.length()).length);
            }
        }
    }

    /** The provider sends one event and waits; completed with what its connection brings next, -1 for its end. */
    private CompletableFuture<Integer> oneEventAndThenSilence() {
        CompletableFuture<Integer> next = new CompletableFuture<>();
        provider.script = (in, out) -> {
            out.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n".getBytes());
            out.write(EVENT.getBytes());
            out.flush();
            try {
                next.complete(in.read());
            } catch (IOException e) {
                next.complete(-1);
            }
        };
        return next;
    }

    @Test
    void aStreamThatAPluginEndsIsWholeAndTheProviderHearsOfIt() throws Exception {
        CompletableFuture<Integer> provided = oneEventAndThenSilence();
        stream((event, out) -> {
            out.emit(StreamEvent.of(event.api(), JsonText.of("{\"last\":1}")));
            out.end();
            return StreamHandler.DONE;
        });
        String answer = chat("", BODY);
        assertTrue(answer.contains("data: {\"last\":1}"), answer);
        assertTrue(answer.endsWith("0\r\n\r\n"), answer);
        assertEquals(-1, provided.get(10, TimeUnit.SECONDS));
        assertEquals(List.of(), log.lines, "nobody but the plugin ended it");
    }

    @Test
    void aProviderThatBreaksOffBreaksOffBehindAPluginToo() throws Exception {
        stream((event, out) -> {
            out.emit(event);
            return StreamHandler.DONE;
        });
        String head =
                "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n";
        provider.script = (in, out) -> out.write((head + "7\r\ndata:\n\n\r\n5\r\ndata:\r\n").getBytes());
        String answer = chat("", BODY);
        assertTrue(answer.startsWith("HTTP/1.1 200"), answer);
        assertTrue(answer.contains("data:"), answer);
        assertFalse(answer.endsWith("0\r\n\r\n"), answer);
        provider.script = (in, out) -> out.write((head + "5\r\ndata:\r\n").getBytes());
        assertTrue(chat("", BODY).startsWith("HTTP/1.1 "));
        Awaiting.await("record", () -> recorded.contains("BodyBroken"));
    }

    @Test
    void anAgentThatLeavesTakesTheProviderWithIt() throws Exception {
        CompletableFuture<Integer> provided = oneEventAndThenSilence();
        stream((event, out) -> {
            out.emit(event);
            return StreamHandler.DONE;
        });
        try (Socket socket = connect("POST /v1/chat/completions", "", BODY.getBytes())) {
            FakeProvider.head(socket.getInputStream());
        }
        assertEquals(-1, provided.get(10, TimeUnit.SECONDS));
        Awaiting.await("record", () -> recorded.size() == 2);
    }

    @Test
    void aProviderThatIsNotThereIsA502() throws Exception {
        provider.close();
        execution((request, next) -> next.proceed(request));
        assertTrue(chat("", BODY).startsWith("HTTP/1.1 502"));
        Awaiting.await("record", () -> recorded.contains("ConnectFailed"));
    }

    @Test
    void codedRequestBodiesAreReadableAndPassUntouched() throws Exception {
        List<Optional<String>> models = new CopyOnWriteArrayList<>();
        intercept(
                request -> {
                    models.add(request.model());
                    return CompletableFuture.completedStage(request);
                },
                true);
        byte[] coded = gzip(BODY);
        String answer = exchange("POST /v1/chat/completions", "content-encoding: gzip\r\n", coded);
        assertTrue(answer.startsWith("HTTP/1.1 200"), answer);
        assertEquals(List.of(Optional.of("m")), models);
        assertArrayEquals(coded, provider.bodies.getLast());
        assertTrue(
                provider.requests.getLast().toLowerCase(java.util.Locale.ROOT).contains("content-encoding: gzip"));
        intercept(request -> CompletableFuture.completedStage(request.withModel("n")), true);
        exchange("POST /v1/chat/completions", "content-encoding: gzip\r\n", coded);
        assertEquals(BODY.replace("\"m\"", "\"n\""), new String(provider.bodies.getLast(), StandardCharsets.UTF_8));
        assertFalse(
                provider.requests.getLast().toLowerCase(java.util.Locale.ROOT).contains("content-encoding"));
    }

    @Test
    void bodiesThatCannotBeReadAreRefusedWhereAPluginHasTo() throws Exception {
        intercept(request -> CompletableFuture.completedStage(request), true);
        List<String> statuses = new ArrayList<>();
        byte[] body = BODY.getBytes();
        for (String[] each : new String[][] {
            {"content-encoding: br\r\n", BODY},
            {"content-encoding: zstd\r\n", BODY},
            {"", "[1]"},
            {"", "{"},
            {"", "{\"a\":\"" + "x".repeat(10_000) + "\"}"}
        }) {
            statuses.add(chat(each[0], each[1]).substring(9, 12));
        }
        statuses.add(exchange(
                        "POST /v1/chat/completions",
                        "content-encoding: gzip\r\n",
                        gzip("{\"a\":\"" + "x".repeat(100_000) + "\"}"))
                .substring(9, 12));
        assertEquals(List.of("415", "400", "400", "400", "413", "413"), statuses);
        assertEquals(List.of(), provider.requests);
        intercept(CompletableFuture::completedStage, false);
        assertTrue(exchange("POST /v1/chat/completions", "content-encoding: br\r\n", body)
                .startsWith("HTTP/1.1 200"));
        assertArrayEquals(body, provider.bodies.getLast());
    }

    @Test
    void aRequestFinishesOnTheSnapshotThatItBeganWith() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CompletableFuture<Void> gate = new CompletableFuture<>();
        intercept(
                request -> {
                    entered.countDown();
                    return gate.thenApply(done -> request.withHeader("x-old", "1"));
                },
                false);
        try (Socket socket = connect("POST /v1/chat/completions", "", BODY.getBytes())) {
            assertTrue(entered.await(10, TimeUnit.SECONDS));
            intercept(request -> CompletableFuture.completedStage(request.withHeader("x-new", "1")), false);
            gate.complete(null);
            FakeProvider.head(socket.getInputStream());
        }
        assertTrue(provider.requests.getLast().contains("x-old"));
        chat("", BODY);
        assertTrue(provider.requests.getLast().contains("x-new"));
    }
}
