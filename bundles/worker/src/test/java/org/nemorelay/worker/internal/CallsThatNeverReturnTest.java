package org.nemorelay.worker.internal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpFields;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.HttpEngine;
import org.nemorelay.http.HttpListener;
import org.nemorelay.http.Upstreams;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pipeline.Stage;
import org.nemorelay.pipeline.StageThreads;
import org.nemorelay.pipeline.Stages;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.RequestGuardrail;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.plugin.api.StreamOutput;
import org.nemorelay.pluginhost.Ruling;
import org.nemorelay.pluginhost.Snapshot;
import org.nemorelay.protocol.control.Secret;
import org.nemorelay.worker.internal.hook.HookPayload;

/**
 * A plugin's call that never comes back and heeds no interrupt is given up, wherever it is made: the agent is refused, or its
 * stream ends with an error, and nobody waits for ever.
 */
@Timeout(120)
final class CallsThatNeverReturnTest {
    private final HttpEngine engine = HttpEngine.create(Map.of());
    private final AtomicLong clock = new AtomicLong();
    private final StageThreads threads = new StageThreads(new MemoryLog(), clock::get);
    private final Admission admission = new Admission();
    private final FakeProvider provider = new FakeProvider((in, out) -> answer(out));
    private final CountDownLatch testEnds = new CountDownLatch(1);
    private volatile Semaphore seen = new Semaphore(0);
    private volatile boolean stuck;
    private final HttpListener worker;
    private volatile Snapshot snapshot = Snapshot.NONE;
    private volatile List<String> answer = List.of();
    private volatile boolean slowly;
    private volatile boolean alone;

    /** Where the plugin blocks. */
    private enum Place {
        GUARDRAIL,
        REQUEST,
        EXECUTION,
        EXECUTION_OF_THE_ANSWER,
        OPEN,
        FIRST_EVENT,
        SECOND_EVENT,
        EVENT_UNDER_THE_LOCK_OF_THE_OUTPUT,
        END,
        CLOSE
    }

    CallsThatNeverReturnTest() throws Exception {
        Observation nobody = new Observation() {
            @Override
            public CompletableFuture<Void> hook(HookPayload hook, int bytes, Ruling ruling) {
                return CompletableFuture.completedFuture(null);
            }

            @Override
            public ExchangeListener exchange(String path, Supplier<HttpFields> headers, Optional<byte[]> body) {
                return new ExchangeListener() {};
            }

            @Override
            public void refused(String path, HttpFields headers, Optional<byte[]> body, List<Clearance.Check> checks) {}
        };
        DataPlane dataPlane = new DataPlane(
                admission,
                engine.forwarder(),
                new Upstreams(new Upstreams.Settings(provider.url() + "/v1", "", provider.url(), "", ""), Map.of()),
                () -> snapshot,
                nobody,
                new UpstreamFailureLog(new MemoryLog(), "worker", System::nanoTime),
                100_000,
                10_000,
                0);
        worker = engine.listen("127.0.0.1", 0, server -> dataPlane);
        admission.issued(new Secret("token"));
        assertTrue(send("GET", "/_nemo-relay/worker/v1/ready", "").startsWith("HTTP/1.1 204"));
    }

    @AfterEach
    void stop() throws IOException {
        testEnds.countDown();
        worker.close();
        engine.close();
        provider.close();
        threads.close();
    }

    // ---- the provider and the agent

    private void answer(OutputStream out) throws IOException, InterruptedException {
        Semaphore taken = seen;
        String head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
        if (slowly) {
            out.write(head.getBytes());
            for (String event : answer) {
                out.write(event.getBytes());
                // Each when the one before it was taken, so that each comes by itself.
                taken.tryAcquire(alone ? 1 : 3, 10, TimeUnit.SECONDS);
            }
        } else {
            out.write((head + String.join("", answer)).getBytes());
        }
    }

    /** A head, and the body where the head tells its length. */
    private static String read(InputStream in) throws IOException {
        String head = FakeProvider.head(in);
        return head + new String(in.readNBytes(FakeProvider.length(head)), StandardCharsets.UTF_8);
    }

    /** The head and what comes with it, up to its end or where it breaks off. */
    private String send(String method, String path, String body) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), worker.port())) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream()
                    .write((method + " " + path + " HTTP/1.1\r\nHost: x\r\nX-Nemo-Relay-Worker-Token: token\r\n"
                                    + "Content-Length: " + body.length() + "\r\n\r\n" + body)
                            .getBytes(StandardCharsets.UTF_8));
            InputStream in = socket.getInputStream();
            StringBuilder all = new StringBuilder(read(in));
            boolean chunked = all.indexOf("Transfer-Encoding: chunked") >= 0;
            while (chunked && all.indexOf("\r\n0\r\n\r\n") < 0) {
                int b = in.read();
                if (b < 0) {
                    break;
                }
                all.append((char) b);
            }
            return all.toString();
        }
    }

    /** The same, with the clock of the budgets moving from when the plugin is stuck. */
    private String late(String path, String body) throws Exception {
        CompletableFuture<String> came = CompletableFuture.supplyAsync(() -> {
            try {
                return send("POST", path, body);
            } catch (IOException e) {
                return "nothing: " + e;
            }
        });
        while (true) {
            try {
                return came.get(30, TimeUnit.MILLISECONDS);
            } catch (TimeoutException e) {
                if (stuck) {
                    clock.addAndGet(TimeUnit.SECONDS.toNanos(6));
                }
            }
        }
    }

    // ---- the plugins

    private void never() {
        stuck = true;
        while (testEnds.getCount() > 0) {
            try {
                testEnds.await();
            } catch (InterruptedException e) {
                // As a plugin does that knows better.
            }
        }
    }

    private final class Blocking implements RequestGuardrail, RequestIntercept, ExecutionIntercept, StreamIntercept {
        private final Optional<Place> place;

        Blocking(Optional<Place> place) {
            this.place = place;
        }

        private void at(Place here) {
            if (place.equals(Optional.of(here))) {
                never();
            }
        }

        @Override
        public int priority() {
            return 100;
        }

        @Override
        public boolean needsBody() {
            return true;
        }

        @Override
        public CompletionStage<Decision> check(org.nemorelay.plugin.api.ModelRequest request) {
            at(Place.GUARDRAIL);
            return CompletableFuture.completedStage(Decision.allow());
        }

        @Override
        public CompletionStage<org.nemorelay.plugin.api.ModelRequest> rewrite(
                org.nemorelay.plugin.api.ModelRequest request) {
            at(Place.REQUEST);
            return CompletableFuture.completedStage(request);
        }

        @Override
        public CompletionStage<org.nemorelay.plugin.api.ModelResponse> execute(
                org.nemorelay.plugin.api.ModelRequest request, Next next) {
            at(Place.EXECUTION);
            return next.proceed(request).thenApply(response -> {
                at(Place.EXECUTION_OF_THE_ANSWER);
                return response;
            });
        }

        @Override
        public StreamHandler open(
                org.nemorelay.plugin.api.ModelRequest request,
                org.nemorelay.plugin.api.ModelResponse.Streamed response) {
            at(Place.OPEN);
            return new StreamHandler() {
                private int events;

                @Override
                public CompletionStage<Void> onEvent(StreamEvent event, StreamOutput out) {
                    at(++events == 1 ? Place.FIRST_EVENT : Place.SECOND_EVENT);
                    synchronized (out) {
                        at(Place.EVENT_UNDER_THE_LOCK_OF_THE_OUTPUT);
                    }
                    out.emit(event);
                    seen.release();
                    return DONE;
                }

                @Override
                public CompletionStage<Void> onEnd(StreamOutput out) {
                    at(Place.END);
                    return DONE;
                }

                @Override
                public void onClose() {
                    at(Place.CLOSE);
                }
            };
        }
    }

    private <S> Stage<S> stage(String plugin, S service, int priority) {
        return new Stage<>(service, threads.share(plugin), priority, true);
    }

    /** The one that blocks between two that do not, so that it is called on threads of every kind. */
    private <S> List<Stage<S>> around(S blocking, S passing) {
        List<Stage<S>> all = new ArrayList<>(List.of(stage("stuck", blocking, 2)));
        if (!alone) {
            all.add(stage("first", passing, 1));
            all.add(stage("last", passing, 3));
        }
        return all;
    }

    private void plugins(Place place) {
        Blocking stuck = new Blocking(Optional.of(place));
        Blocking pass = new Blocking(Optional.empty());
        boolean request = place.compareTo(Place.EXECUTION) < 0;
        boolean execution = !request && place.compareTo(Place.OPEN) < 0;
        snapshot = new Snapshot(
                List.of(),
                List.of(),
                new Stages(
                        request || !alone ? around(stuck, pass) : List.of(),
                        request || !alone ? around(stuck, pass) : List.of(),
                        execution || !alone ? around(stuck, pass) : List.of(),
                        !request && !execution || !alone ? around(stuck, pass) : List.of(),
                        List.of(),
                        List.of()));
    }

    private static String path(ModelApi api) {
        return switch (api) {
            case OPENAI_CHAT -> "/v1/chat/completions";
            case OPENAI_RESPONSES -> "/v1/responses";
            case ANTHROPIC_MESSAGES -> "/v1/messages";
        };
    }

    private static List<String> events(ModelApi api) {
        return switch (api) {
            case OPENAI_CHAT ->
                List.of(
                        "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n",
                        "data: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n",
                        "data: [DONE]\n\n");
            case OPENAI_RESPONSES ->
                List.of(
                        "event: response.created\ndata: {\"type\":\"response.created\"}\n\n",
                        "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\n",
                        "event: response.completed\ndata: {\"type\":\"response.completed\"}\n\n");
            case ANTHROPIC_MESSAGES ->
                List.of(
                        "event: message_start\ndata: {\"type\":\"message_start\"}\n\n",
                        "event: ping\ndata: {\"type\":\"ping\"}\n\n",
                        "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n");
        };
    }

    @ParameterizedTest
    @EnumSource(ModelApi.class)
    void theAgentIsTold(ModelApi api) throws Exception {
        answer = events(api);
        for (Place place : Place.values()) {
            for (boolean single : new boolean[] {true, false}) {
                for (boolean slow : new boolean[] {false, true}) {
                    slowly = slow;
                    alone = single;
                    seen = new Semaphore(0);
                    stuck = false;
                    provider.requests.clear();
                    plugins(place);
                    String came = late(path(api), "{\"model\":\"m\",\"stream\":true,\"messages\":[],\"input\":[]}");
                    judge(api, place, came, api + " " + place + " alone " + single + " slowly " + slow + ":\n" + came);
                }
            }
        }
    }

    private void judge(ModelApi api, Place place, String came, String what) {
        boolean sent = place.compareTo(Place.EXECUTION) > 0;
        assertEquals(sent, !provider.requests.isEmpty(), what);
        if (place.compareTo(Place.OPEN) <= 0) {
            assertTrue(came.startsWith("HTTP/1.1 500"), what);
            assertTrue(came.contains("the plugin \\\"stuck\\\" took too long, so the"), what);
            return;
        }
        assertTrue(came.startsWith("HTTP/1.1 200"), what);
        assertTrue(came.endsWith("0\r\n\r\n"), what);
        List<String> events = events(api);
        // What one call has emitted goes on with its end.
        int whole = place == Place.CLOSE || place == Place.END
                ? 3
                : place == Place.SECOND_EVENT && (alone || slowly) ? 1 : 0;
        for (int i = 0; i < events.size(); i++) {
            assertEquals(i < whole, came.contains(events.get(i)), what);
        }
        if (place == Place.CLOSE) {
            assertFalse(came.contains("stuck"), what);
        } else {
            assertTrue(
                    came.contains("\"message\":\"the plugin \\\"stuck\\\" took too long, so the answer ends here\""),
                    what);
        }
    }
}
