package org.nemorelay.pipeline;

import java.io.ByteArrayOutputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.nemorelay.pipeline.internal.ProviderStream;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamOutput;

/**
 * A streamed answer behind its handlers. Pulled by whoever reads it: the provider is read when the reader waits and no
 * handler has anything to do. What one network read brought goes through each handler in one call, so a stream costs a
 * change of threads per read, not per event; a handler that makes its events wait lets what it has emitted go first.
 */
final class HandledStream implements ByteSource {
    private static final long CALL_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final ModelApi api;
    private final ByteSource source;
    private final EventSplitter splitter;
    private final List<Handler> handlers = new ArrayList<>();
    private final long limit;

    // Guarded by this.
    private CompletableFuture<byte[]> wanted;
    private boolean driving;
    private boolean reading;
    private boolean sourceEnded;
    private Throwable broken;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private boolean finished;
    private boolean failed;
    private boolean over;

    /** @param limit how large one event may be */
    HandledStream(ModelApi api, ByteSource source, List<ProviderStream.Bound> bound, long limit) {
        this.api = api;
        this.source = source;
        this.splitter = new EventSplitter(api);
        this.limit = limit;
        bound.forEach(one -> handlers.add(new Handler(one.handler(), one.share())));
    }

    @Override
    public CompletionStage<byte[]> read() {
        CompletableFuture<byte[]> next = new CompletableFuture<>();
        synchronized (this) {
            wanted = next;
        }
        drive();
        return next;
    }

    @Override
    public void cancel() {
        synchronized (this) {
            finished = true;
            out.reset();
            wanted = null;
        }
        source.cancel();
        close();
    }

    /** Does what can be done; one thread at a time, those that come meanwhile have it look again. */
    private void drive() {
        synchronized (this) {
            if (driving) {
                return;
            }
            driving = true;
        }
        while (true) {
            Runnable step;
            synchronized (this) {
                step = next();
                if (step == null) {
                    driving = false;
                    return;
                }
            }
            step.run();
        }
    }

    /** The next step; null when something else must happen first. */
    private Runnable next() {
        move();
        if (wanted != null && (out.size() > 0 || finished || broken != null && quiet())) {
            return deliver();
        }
        if (finished) {
            return null;
        }
        for (int i = handlers.size() - 1; i >= 0; i--) {
            Handler handler = handlers.get(i);
            if (handler.busy || handler.ended) {
                continue;
            }
            if (!handler.inbox.isEmpty()) {
                handler.busy = true;
                return handler::events;
            }
            boolean noMore = i == 0 ? sourceEnded : handlers.get(i - 1).ended;
            if (noMore && broken == null) {
                handler.busy = true;
                return handler::atEnd;
            }
        }
        if (wanted != null && !reading && !sourceEnded && broken == null && quiet()) {
            reading = true;
            return this::readSource;
        }
        return null;
    }

    /** Takes what handlers have emitted one step further. */
    private void move() {
        if (finished) {
            return;
        }
        for (int i = 0; i < handlers.size(); i++) {
            Handler handler = handlers.get(i);
            List<StreamEvent> emitted = handler.emitted();
            if (i + 1 < handlers.size()) {
                handlers.get(i + 1).inbox.addAll(emitted);
            } else {
                emitted.forEach(event -> out.writeBytes(event.raw()));
            }
            if (handler.cut) {
                // It ended the stream for those behind it; those before it have nobody to speak to.
                handler.cut = false;
                for (int before = 0; before <= i; before++) {
                    handlers.get(before).inbox.clear();
                    handlers.get(before).ended = true;
                }
                sourceEnded = true;
                source.cancel();
            }
        }
        if (handlers.getLast().ended && !handlers.getLast().busy) {
            finished = true;
        }
    }

    private boolean quiet() {
        return handlers.stream().noneMatch(handler -> handler.busy || !handler.inbox.isEmpty());
    }

    private Runnable deliver() {
        CompletableFuture<byte[]> reader = wanted;
        wanted = null;
        if (out.size() > 0) {
            byte[] bytes = out.toByteArray();
            out.reset();
            return () -> reader.complete(bytes);
        }
        Throwable cause = broken;
        boolean whole = finished;
        Runnable end = () -> {
            if (whole) {
                reader.complete(END);
            } else {
                reader.completeExceptionally(cause);
            }
        };
        // Behind what was given up an onClose may not come back either.
        return failed
                ? () -> {
                    close();
                    end.run();
                }
                : () -> close().thenRun(end);
    }

    private void readSource() {
        source.read().whenComplete((bytes, failure) -> {
            synchronized (this) {
                reading = false;
                if (failure != null) {
                    if (!sourceEnded) {
                        broken = failure;
                    }
                } else if (!sourceEnded) {
                    if (bytes.length == 0) {
                        sourceEnded = true;
                        handlers.getFirst().inbox.addAll(splitter.rest());
                    } else {
                        handlers.getFirst().inbox.addAll(splitter.add(bytes));
                        if (splitter.waiting() > limit) {
                            fail(Refusal.error(
                                    502,
                                    "an event of the provider's stream is larger than max_passthrough_body_bytes ("
                                            + limit + ")"));
                        }
                    }
                }
            }
            drive();
        });
    }

    /** Ends the stream with an error. */
    private synchronized void fail(Refusal refusal) {
        if (!finished) {
            move();
            out.writeBytes(refusal.event(api).raw());
            finished = true;
            failed = true;
            source.cancel();
        }
    }

    /** Completes when every handler has closed or had its time for that. */
    private CompletableFuture<Void> close() {
        synchronized (this) {
            if (over) {
                return CompletableFuture.completedFuture(null);
            }
            over = true;
        }
        return CompletableFuture.allOf(handlers.stream().map(Handler::close).toArray(CompletableFuture[]::new));
    }

    /** One handler, what it is to be given and what it has emitted. */
    private final class Handler implements StreamOutput {
        private final StreamHandler handler;
        private final Share share;

        // Guarded by the stream; the inbox while not busy, then the handler's call's.
        private final Deque<StreamEvent> inbox = new ArrayDeque<>();
        private boolean busy;
        private boolean ended;
        private boolean cut;

        /** Not this, which the plugin has in hand. */
        private final Object lock = new Object();

        // Guarded by the lock.
        private List<StreamEvent> emitted = new ArrayList<>();
        private boolean open;
        private boolean waits;
        private boolean done;

        Handler(StreamHandler handler, Share share) {
            this.handler = handler;
            this.share = share;
        }

        void events() {
            List<StreamEvent> batch;
            synchronized (HandledStream.this) {
                batch = new ArrayList<>(inbox);
                inbox.clear();
            }
            events(batch, 0);
        }

        /** Gives it events until one has to be waited for. */
        private void events(List<StreamEvent> batch, int from) {
            int[] next = {from};
            call(
                    budget -> {
                        while (next[0] < batch.size()) {
                            budget.renew();
                            CompletionStage<Void> stage = handler.onEvent(batch.get(next[0]++), this);
                            if (stage == null) {
                                return null;
                            }
                            if (stage != StreamHandler.DONE) {
                                CompletableFuture<Void> future = stage.toCompletableFuture();
                                if (!future.isDone() || future.isCompletedExceptionally()) {
                                    return future;
                                }
                            }
                            if (isOver()) {
                                break;
                            }
                        }
                        return StreamHandler.DONE;
                    },
                    () -> {
                        if (next[0] < batch.size() && !isDone()) {
                            events(batch, next[0]);
                        } else {
                            idle(false);
                        }
                    });
        }

        void atEnd() {
            call(budget -> handler.onEnd(this), () -> idle(true));
        }

        private void call(Share.Body<Void> body, Runnable after) {
            synchronized (lock) {
                open = true;
            }
            share.call(
                    CALL_NANOS,
                    budget -> {
                        CompletionStage<Void> stage = body.run(budget);
                        if (stage != null && !stage.toCompletableFuture().isDone()) {
                            synchronized (lock) {
                                waits = true;
                            }
                            drive();
                        }
                        return stage;
                    },
                    (done, failure) -> {
                        synchronized (lock) {
                            open = false;
                            waits = false;
                        }
                        if (failure != null) {
                            fail(Refusal.error(500, failure.getMessage() + ", so the answer ends here"));
                            idle(true);
                        } else {
                            after.run();
                        }
                    });
        }

        private void idle(boolean last) {
            synchronized (HandledStream.this) {
                busy = false;
                ended |= last;
            }
            drive();
        }

        private boolean isDone() {
            synchronized (lock) {
                return done;
            }
        }

        /** Whether nothing more is for the call under way: it was given up, or has ended the stream. */
        private boolean isOver() {
            synchronized (lock) {
                return done || !open;
            }
        }

        List<StreamEvent> emitted() {
            synchronized (lock) {
                if (done && !cut && !ended) {
                    cut = true;
                }
                if (emitted.isEmpty()) {
                    return List.of();
                }
                List<StreamEvent> taken = emitted;
                emitted = new ArrayList<>();
                return taken;
            }
        }

        @Override
        public void emit(StreamEvent event) {
            Objects.requireNonNull(event, "it emitted null");
            boolean waiting;
            synchronized (lock) {
                if (!open || done) {
                    throw new IllegalStateException("an event is emitted by a handler that is not at work");
                }
                emitted.add(event);
                waiting = waits;
            }
            if (waiting) {
                drive();
            }
        }

        @Override
        public void end() {
            synchronized (lock) {
                done = true;
            }
        }

        CompletableFuture<Void> close() {
            CompletableFuture<Void> closed = new CompletableFuture<>();
            share.call(
                    CALL_NANOS,
                    budget -> {
                        handler.onClose();
                        return StreamHandler.DONE;
                    },
                    (done, failure) -> closed.complete(null));
            return closed;
        }
    }

    /** Reads a source to its end. */
    static void drain(ByteSource source, Consumer<byte[]> each, Consumer<Throwable> end) {
        while (true) {
            CompletableFuture<byte[]> next = source.read().toCompletableFuture();
            if (!next.isDone()) {
                next.whenComplete((bytes, failure) -> {
                    if (failure != null) {
                        end.accept(failure);
                    } else if (bytes.length == 0) {
                        end.accept(null);
                    } else {
                        each.accept(bytes);
                        drain(source, each, end);
                    }
                });
                return;
            }
            if (next.isCompletedExceptionally()) {
                end.accept(next.exceptionNow());
                return;
            }
            byte[] bytes = next.resultNow();
            if (bytes.length == 0) {
                end.accept(null);
                return;
            }
            each.accept(bytes);
        }
    }
}
