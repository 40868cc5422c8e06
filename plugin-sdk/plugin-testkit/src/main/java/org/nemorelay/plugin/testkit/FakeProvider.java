package org.nemorelay.plugin.testkit;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import org.nemorelay.pipeline.Answer;
import org.nemorelay.pipeline.ByteSource;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelRequest;

/** A provider that answers every request in the same way, and keeps what it was sent. Safe for any thread. */
public final class FakeProvider implements Answer.Provider {
    private final int status;
    private final HeaderMap headers;
    private final List<String> chunks;
    private final boolean breaks;
    private final List<ModelRequest> requests = new CopyOnWriteArrayList<>();
    private final CompletableFuture<Void> cancelled = new CompletableFuture<>();

    private FakeProvider(int status, String type, List<String> chunks, boolean breaks) {
        this.status = status;
        this.headers = HeaderMap.of().with("content-type", type);
        this.chunks = chunks;
        this.breaks = breaks;
    }

    /** Answers as a stream. */
    public static FakeProvider streams(Recording recording) {
        return new FakeProvider(200, "text/event-stream", recording.chunks(), false);
    }

    /** Begins a stream with these chunks, then breaks off. */
    public static FakeProvider breaksOff(List<String> chunks) {
        return new FakeProvider(200, "text/event-stream", List.copyOf(chunks), true);
    }

    /** Answers as a whole. */
    public static FakeProvider answers(int status, String json) {
        return new FakeProvider(status, "application/json", List.of(json), false);
    }

    /** What it was sent. */
    public List<ModelRequest> requests() {
        return List.copyOf(requests);
    }

    /** Whether somebody did not want the rest of an answer. */
    public boolean cancelled() {
        return cancelled.isDone();
    }

    @Override
    public CompletionStage<Answer> send(ModelRequest request) {
        requests.add(request);
        return CompletableFuture.completedStage(new Answer(status, headers, new Chunks(chunks)));
    }

    private final class Chunks implements ByteSource {
        private final Deque<String> left;

        Chunks(List<String> chunks) {
            left = new ArrayDeque<>(chunks);
        }

        @Override
        public synchronized CompletionStage<byte[]> read() {
            String chunk = left.poll();
            if (chunk != null) {
                return CompletableFuture.completedStage(chunk.getBytes(StandardCharsets.UTF_8));
            }
            return breaks
                    ? CompletableFuture.failedStage(new IOException("the provider broke off"))
                    : CompletableFuture.completedStage(END);
        }

        @Override
        public void cancel() {
            cancelled.complete(null);
        }
    }
}
