package org.nemorelay.pipeline;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.nemorelay.json.JsonText;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.RequestGuardrail;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamIntercept;
import org.nemorelay.telemetry.EventLog;

/** A pipeline with a clock that the test moves and a provider that answers what it was told. */
final class Rig implements AutoCloseable {
    static final String BODY =
            "{\"model\":\"m\", \"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":\"hi\"}]}";

    final List<String> log = new CopyOnWriteArrayList<>();
    final AtomicLong clock = new AtomicLong();
    final StageThreads threads = new StageThreads(
            new EventLog() {
                @Override
                public boolean enabled(Level level) {
                    return true;
                }

                @Override
                public void log(Level level, String target, String event, String message, Object... fields) {
                    log.add(event + " " + message);
                }

                @Override
                public void flush() {}
            },
            clock::get);
    final List<ModelRequest> sent = new CopyOnWriteArrayList<>();
    final List<FakeSource> sources = new CopyOnWriteArrayList<>();
    private Stages stages = Stages.NONE;

    static ModelRequest request(String body) {
        return ModelRequest.of(
                ModelApi.OPENAI_CHAT,
                "/v1/chat/completions",
                HeaderMap.of().with("x-a", "1").with("content-type", "application/json"),
                JsonText.of(body));
    }

    <S> Stage<S> stage(String plugin, S service, int priority, boolean body) {
        return new Stage<>(service, threads.share(plugin), priority, body);
    }

    Rig guardrails(List<Stage<RequestGuardrail>> all) {
        stages = new Stages(all, stages.intercepts(), stages.executions(), stages.streams(), List.of(), List.of());
        return this;
    }

    Rig intercepts(List<Stage<RequestIntercept>> all) {
        stages = new Stages(stages.guardrails(), all, stages.executions(), stages.streams(), List.of(), List.of());
        return this;
    }

    Rig executions(List<Stage<ExecutionIntercept>> all) {
        stages = new Stages(stages.guardrails(), stages.intercepts(), all, stages.streams(), List.of(), List.of());
        return this;
    }

    Rig streams(List<Stage<StreamIntercept>> all) {
        stages = new Stages(stages.guardrails(), stages.intercepts(), stages.executions(), all, List.of(), List.of());
        return this;
    }

    Clearance admit(ModelRequest request) throws Exception {
        return new Pipeline(stages, 10_000).admit(request).get(10, TimeUnit.SECONDS);
    }

    ModelRequest rewritten(ModelRequest request) throws Exception {
        return admit(request).verdict() instanceof Clearance.Verdict.Go(ModelRequest changed) ? changed : null;
    }

    Optional<Refusal> refused(ModelRequest request) throws Exception {
        return admit(request).verdict() instanceof Clearance.Verdict.Refused(Refusal refusal)
                ? Optional.of(refusal)
                : Optional.empty();
    }

    Answer execute(HeaderMap headers, String... chunks) throws Exception {
        return executing(200, headers, chunks).get(10, TimeUnit.SECONDS);
    }

    CompletableFuture<Answer> executing(int status, HeaderMap headers, String... chunks) {
        return new Pipeline(stages, 10_000).execute(request(BODY), request -> {
            sent.add(request);
            FakeSource source = new FakeSource(chunks);
            sources.add(source);
            return CompletableFuture.completedStage(new Answer(status, headers, source));
        });
    }

    CompletableFuture<Answer> executing(Answer.Provider provider) {
        return new Pipeline(stages, 10_000).execute(request(BODY), provider);
    }

    static HeaderMap sse() {
        return HeaderMap.of().with("content-type", "text/event-stream; charset=utf-8");
    }

    static HeaderMap json() {
        return HeaderMap.of().with("content-type", "application/json").with("x-request-id", "r1");
    }

    static String text(Answer answer) throws Exception {
        CompletableFuture<String> whole = new CompletableFuture<>();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        HandledStream.drain(answer.body(), bytes::writeBytes, failure -> {
            if (failure == null) {
                whole.complete(bytes.toString(StandardCharsets.UTF_8));
            } else {
                whole.completeExceptionally(failure);
            }
        });
        return whole.get(10, TimeUnit.SECONDS);
    }

    @Override
    public void close() {
        threads.close();
    }

    /** Gives its chunks one a read; "BREAK" breaks off, "WAIT" waits until it is told to go on. */
    static final class FakeSource implements ByteSource {
        final CompletableFuture<Void> cancelled = new CompletableFuture<>();
        final CompletableFuture<Void> goOn = new CompletableFuture<>();
        private final Deque<String> chunks;

        FakeSource(String... chunks) {
            this.chunks = new ArrayDeque<>(List.of(chunks));
        }

        @Override
        public synchronized CompletionStage<byte[]> read() {
            String chunk = chunks.poll();
            if (chunk == null) {
                return CompletableFuture.completedStage(END);
            }
            return switch (chunk) {
                case "BREAK" -> CompletableFuture.failedStage(new IOException("broken"));
                case "WAIT" -> goOn.thenCompose(done -> read());
                default -> CompletableFuture.supplyAsync(() -> chunk.getBytes(StandardCharsets.UTF_8));
            };
        }

        @Override
        public void cancel() {
            cancelled.complete(null);
        }
    }
}
