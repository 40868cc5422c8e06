package org.nemorelay.pipeline;

import java.io.ByteArrayOutputStream;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.nemorelay.pipeline.internal.InflatedSource;
import org.nemorelay.pipeline.internal.OwnHeaders;
import org.nemorelay.pipeline.internal.ProviderStream;
import org.nemorelay.pipeline.internal.ProviderWhole;
import org.nemorelay.plugin.api.Decision;
import org.nemorelay.plugin.api.ExecutionIntercept;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;
import org.nemorelay.plugin.api.ModelResponse;
import org.nemorelay.plugin.api.ReplayedStream;
import org.nemorelay.plugin.api.RequestGuardrail;
import org.nemorelay.plugin.api.RequestIntercept;
import org.nemorelay.plugin.api.StreamEvent;
import org.nemorelay.plugin.api.StreamHandler;
import org.nemorelay.plugin.api.StreamIntercept;

/**
 * Takes one model request through the services of a snapshot (plugins.md 4.2): guardrails, request intercepts, execution
 * intercepts, provider, stream intercepts. Every call returns at once; what comes after a service goes on the thread that
 * the service ran on. Safe for any thread.
 */
public final class Pipeline {
    private static final long CALL_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final String OVER = "the request is over";

    private final Stages stages;
    private final long limit;

    /** @param limit {@code max_passthrough_body_bytes}: how large what is held in memory may be */
    public Pipeline(Stages stages, long limit) {
        this.stages = stages;
        this.limit = limit;
    }

    // ---- before the request is sent

    /** Asks the guardrails, and lets the intercepts rewrite. Completes, never exceptionally, on a stage thread. */
    public CompletableFuture<Clearance> admit(ModelRequest request) {
        CompletableFuture<Clearance> clearance = new CompletableFuture<>();
        guard(request, 0, new ArrayList<>(), clearance);
        return clearance;
    }

    private void guard(
            ModelRequest request, int at, List<Clearance.Check> checks, CompletableFuture<Clearance> clearance) {
        if (at == stages.guardrails().size()) {
            rewrite(request, 0, checks, clearance);
            return;
        }
        Stage<RequestGuardrail> stage = stages.guardrails().get(at);
        Instant begun = Instant.now();
        stage.share()
                .<Decision>call(
                        CALL_NANOS,
                        budget -> answered(stage.service().check(shown(request, stage))),
                        (decision, failure) -> {
                            Optional<String> denial = failure == null ? denial(decision) : Optional.empty();
                            checks.add(new Clearance.Check(
                                    stage.plugin(),
                                    begun,
                                    Instant.now(),
                                    denial,
                                    Optional.ofNullable(failure).map(StageFailure::getMessage)));
                            if (failure != null) {
                                refuse(failed(failure), checks, clearance);
                            } else if (denial.isPresent()) {
                                refuse(Refusal.denied(denial.get()), checks, clearance);
                            } else {
                                guard(request, at + 1, checks, clearance);
                            }
                        });
    }

    private static Optional<String> denial(Decision decision) {
        return switch (decision) {
            case Decision.Allow() -> Optional.empty();
            case Decision.Deny(String reason) -> Optional.of(reason);
            case Decision.Ask(String reason) -> Optional.of(reason);
        };
    }

    private void rewrite(
            ModelRequest request, int at, List<Clearance.Check> checks, CompletableFuture<Clearance> clearance) {
        if (at == stages.intercepts().size()) {
            clearance.complete(new Clearance(new Clearance.Verdict.Go(request), checks));
            return;
        }
        Stage<RequestIntercept> stage = stages.intercepts().get(at);
        stage.share()
                .<ModelRequest>call(
                        CALL_NANOS,
                        budget -> {
                            CompletableFuture<ModelRequest> answer =
                                    answered(stage.service().rewrite(shown(request, stage)));
                            return answer.isDone() && !answer.isCompletedExceptionally()
                                    ? CompletableFuture.completedFuture(merged(request, answer.resultNow()))
                                    : answer.thenApply(changed -> merged(request, changed));
                        },
                        (changed, failure) -> {
                            if (failure != null) {
                                refuse(failed(failure), checks, clearance);
                            } else {
                                rewrite(changed, at + 1, checks, clearance);
                            }
                        });
    }

    private static void refuse(Refusal refusal, List<Clearance.Check> checks, CompletableFuture<Clearance> clearance) {
        clearance.complete(new Clearance(new Clearance.Verdict.Refused(refusal), checks));
    }

    private static Refusal failed(StageFailure failure) {
        return Refusal.error(500, failure.getMessage() + ", so the request is not sent");
    }

    private static Refusal withheld(StageFailure failure) {
        return Refusal.error(
                500, failure.getMessage() + ", so the provider's answer is withheld (the request was sent)");
    }

    /** The request as a service sees it: its body is there only where it is asked for. */
    private static ModelRequest shown(ModelRequest request, Stage<?> stage) {
        return stage.needsBody() || !request.hasBody()
                ? request
                : ModelRequest.ofHead(request.api(), request.path(), request.headers());
    }

    private static <R> CompletionStage<R> given(CompletionStage<R> stage) {
        return Objects.requireNonNull(stage, "it returned null");
    }

    /** A stage that fails on null. */
    static <R> CompletableFuture<R> answered(CompletionStage<R> stage) {
        CompletableFuture<R> future = given(stage).toCompletableFuture();
        if (future.isDone() && !future.isCompletedExceptionally()) {
            Objects.requireNonNull(future.resultNow(), "its stage completed with null");
            return future;
        }
        return future.thenApply(result -> Objects.requireNonNull(result, "its stage completed with null"));
    }

    /** The request that a service returned, put together with what it did not see. */
    private static ModelRequest merged(ModelRequest before, ModelRequest changed) {
        if (changed == before) {
            return before;
        }
        if (changed.api() != before.api() || !changed.path().equals(before.path())) {
            throw new IllegalStateException("it changed the request's API or path");
        }
        for (String name : changed.headers().namesChangedFrom(before.headers())) {
            if (OwnHeaders.contains(name)) {
                throw new IllegalStateException("it changed the header " + name);
            }
        }
        if (!changed.hasBody()) {
            return before.withHeaders(changed.headers());
        }
        if (!before.hasBody()) {
            throw new IllegalStateException("it changed the body without needsBody()");
        }
        if (!changed.body().equals(before.body())) {
            if (!changed.readable()) {
                throw new IllegalStateException("it made a body that is no JSON object");
            }
            if (changed.streaming() != before.streaming()) {
                throw new IllegalStateException("it changed whether the answer is a stream");
            }
        }
        return changed;
    }

    // ---- the answer

    /**
     * Sends a request through the execution intercepts to the provider, and the answer through the stream intercepts. A
     * service's failure becomes an answer; completes exceptionally only where the provider gave none, with what {@code
     * provider} completed with.
     */
    public CompletableFuture<Answer> execute(ModelRequest request, Answer.Provider provider) {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        Execution execution = new Execution(provider);
        execution.proceed(request, 0).whenComplete((response, failure) -> {
            if (failure != null) {
                execution.abandon(null);
                Throwable cause = cause(failure);
                if (cause instanceof StageFailure stage) {
                    answer.complete(refusal(request.api(), execution.sent() ? withheld(stage) : failed(stage)));
                } else if (cause instanceof Failed failed) {
                    answer.complete(refusal(request.api(), failed.refusal));
                } else {
                    answer.completeExceptionally(cause);
                }
                return;
            }
            switch (response) {
                case ProviderStream stream -> {
                    execution.abandon(stream.source());
                    // An answer that is no stream passes stream intercepts by.
                    int first = streamed(stream.status(), stream.headers())
                            ? 0
                            : stages.streams().size();
                    open(execution.last(request), stream, first, answer);
                }
                case ModelResponse.Whole whole -> {
                    execution.abandon(null);
                    answer.complete(answer(whole));
                }
                // bound() lets nothing else by.
                case ModelResponse other -> throw new AssertionError(other.getClass());
            }
        });
        return answer;
    }

    private static Answer refusal(ModelApi api, Refusal refusal) {
        byte[] body = refusal.bytes(api);
        return new Answer(
                refusal.status(),
                HeaderMap.of()
                        .with("content-type", "application/json")
                        .with("content-length", Integer.toString(body.length)),
                ByteSource.of(body));
    }

    private static Answer answer(ModelResponse.Whole whole) {
        byte[] body;
        HeaderMap headers;
        if (whole instanceof ProviderWhole provided && provided.raw().isPresent()) {
            body = provided.raw().get();
            headers = OwnHeaders.settled(whole.headers(), provided.received());
        } else {
            body = whole.body().bytes();
            headers = OwnHeaders.settled(whole.headers(), HeaderMap.of())
                    .without("etag")
                    .without("content-md5");
        }
        return new Answer(
                whole.status(),
                headers.without("transfer-encoding").with("content-length", Integer.toString(body.length)),
                ByteSource.of(body));
    }

    /** Has the stream intercepts open their handlers, one after the other. */
    private void open(ModelRequest request, ProviderStream stream, int at, CompletableFuture<Answer> answer) {
        if (at == stages.streams().size()) {
            answer.complete(handled(stream));
            return;
        }
        Stage<StreamIntercept> stage = stages.streams().get(at);
        stage.share()
                .<StreamHandler>call(
                        CALL_NANOS,
                        budget -> CompletableFuture.completedStage(Objects.requireNonNull(
                                stage.service().open(shown(request, stage), stream.seenBy(stage.share())),
                                "it returned no handler")),
                        (handler, failure) -> {
                            if (failure != null) {
                                stream.source().cancel();
                                answer.complete(refusal(stream.api(), withheld(failure)));
                            } else {
                                open(request, stream.seenBy(stage.share()).through(handler), at + 1, answer);
                            }
                        });
    }

    private Answer handled(ProviderStream stream) {
        HeaderMap settled = OwnHeaders.settled(stream.headers(), stream.received());
        if (stream.handlers().isEmpty()) {
            return new Answer(stream.status(), settled, stream.source());
        }
        String coding =
                String.join(",", settled.all("content-encoding")).strip().toLowerCase(Locale.ROOT);
        ByteSource source;
        switch (coding) {
            case "", "identity" -> source = stream.source();
            case "gzip", "x-gzip" -> source = new InflatedSource(stream.source(), true);
            case "deflate" -> source = new InflatedSource(stream.source(), false);
            default -> {
                stream.source().cancel();
                return refusal(
                        stream.api(),
                        Refusal.error(
                                502,
                                "the provider's stream has the content coding " + coding
                                        + ", which a plugin's stream intercept cannot read"));
            }
        }
        HeaderMap headers = settled.without("content-encoding").without("content-length");
        return new Answer(stream.status(), headers, new HandledStream(stream.api(), source, stream.handlers(), limit));
    }

    private static Throwable cause(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** An error of the relay's own, on its way to the agent. */
    private static final class Failed extends RuntimeException {
        private static final long serialVersionUID = 1L;
        private final transient Refusal refusal;

        Failed(Refusal refusal) {
            super(refusal.message(), null, false, false);
            this.refusal = refusal;
        }
    }

    /** One request on its way through the execution intercepts. */
    private final class Execution {
        private final Answer.Provider provider;

        // Guarded by this.
        private final List<ByteSource> sources = new ArrayList<>();
        private ModelRequest sent;
        private boolean over;

        Execution(Answer.Provider provider) {
            this.provider = provider;
        }

        synchronized ModelRequest last(ModelRequest otherwise) {
            return sent == null ? otherwise : sent;
        }

        synchronized boolean sent() {
            return sent != null;
        }

        CompletableFuture<ModelResponse> proceed(ModelRequest request, int at) {
            if (at == stages.executions().size()) {
                return send(request);
            }
            Stage<ExecutionIntercept> stage = stages.executions().get(at);
            CompletableFuture<ModelResponse> result = new CompletableFuture<>();
            Throwable[] provided = new Throwable[1];
            stage.share()
                    .<ModelResponse>call(
                            CALL_NANOS,
                            budget -> given(stage.service()
                                            .execute(
                                                    shown(request, stage),
                                                    changed -> next(stage, request, changed, at, budget, provided)))
                                    .handle((response, failure) -> {
                                        if (failure == null) {
                                            return bound(
                                                    Objects.requireNonNull(response, "its stage completed with null"),
                                                    stage.share());
                                        }
                                        if (cause(failure) == provided[0]) {
                                            // It let pass what the way on failed with.
                                            return null;
                                        }
                                        throw new CompletionException(cause(failure));
                                    }),
                            (response, failure) -> {
                                if (failure != null) {
                                    result.completeExceptionally(failure);
                                } else if (response == null) {
                                    result.completeExceptionally(provided[0]);
                                } else {
                                    result.complete(response);
                                }
                            });
            return result;
        }

        /** The clock of the intercept stands still until the answer is here, which its own threads take up. */
        private CompletionStage<ModelResponse> next(
                Stage<ExecutionIntercept> stage,
                ModelRequest before,
                ModelRequest changed,
                int at,
                Share.Budget budget,
                Throwable[] provided) {
            ModelRequest request = merged(before, changed);
            CompletableFuture<ModelResponse> given = new CompletableFuture<>();
            budget.suspend();
            proceed(request, at + 1).whenComplete((response, failure) -> {
                budget.resume();
                Runnable hand = () -> {
                    if (failure != null) {
                        provided[0] = cause(failure);
                        given.completeExceptionally(provided[0]);
                    } else {
                        given.complete(
                                response instanceof ProviderStream stream ? stream.seenBy(stage.share()) : response);
                    }
                };
                if (budget.blocking()) {
                    // Its thread waits for this, and may be the last of its share.
                    stage.share().beside(hand);
                    return;
                }
                stage.share()
                        .call(
                                CALL_NANOS,
                                own -> {
                                    hand.run();
                                    return CompletableFuture.completedStage(null);
                                },
                                (done, refused) -> {
                                    if (refused != null) {
                                        given.completeExceptionally(refused);
                                    }
                                });
            });
            return given;
        }

        private CompletableFuture<ModelResponse> send(ModelRequest request) {
            synchronized (this) {
                if (over) {
                    return CompletableFuture.failedFuture(new IllegalStateException(OVER));
                }
                sent = request;
            }
            CompletableFuture<ModelResponse> response = new CompletableFuture<>();
            provider.send(request).whenComplete((answer, failure) -> {
                if (failure != null) {
                    response.completeExceptionally(cause(failure));
                    return;
                }
                if (!keep(answer.body())) {
                    answer.body().cancel();
                    response.completeExceptionally(new IllegalStateException(OVER));
                } else if (streamed(answer.status(), answer.headers())
                        || stages.executions().isEmpty()) {
                    stream(request, answer, response);
                } else {
                    whole(request, answer, response);
                }
            });
            return response;
        }

        private void stream(ModelRequest request, Answer answer, CompletableFuture<ModelResponse> response) {
            ProviderStream stream = new ProviderStream(
                    request.api(),
                    answer.status(),
                    answer.headers(),
                    answer.headers(),
                    answer.body(),
                    List.of(),
                    Optional.empty());
            response.complete(stream);
        }

        private void whole(ModelRequest request, Answer answer, CompletableFuture<ModelResponse> response) {
            ByteArrayOutputStream body = new ByteArrayOutputStream();
            Consumer<byte[]> each = bytes -> {
                if (body.size() <= limit) {
                    body.writeBytes(bytes);
                }
                if (body.size() > limit) {
                    answer.body().cancel();
                    response.completeExceptionally(new Failed(Refusal.error(
                            502,
                            "the provider's answer is larger than max_passthrough_body_bytes (" + limit
                                    + "), which a plugin's execution intercept may hold")));
                }
            };
            HandledStream.drain(answer.body(), each, failure -> {
                if (failure != null) {
                    response.completeExceptionally(failure);
                } else {
                    response.complete(ProviderWhole.of(
                            request.api(), answer.status(), answer.headers(), body.toByteArray(), limit));
                }
            });
        }

        /** An intercept's answer. */
        private ModelResponse bound(ModelResponse response, Share share) {
            return switch (response) {
                case ModelResponse.Whole whole -> settled(whole);
                case ReplayedStream replayed -> {
                    ProviderStream played = played(replayed, share);
                    keep(played.source());
                    yield played;
                }
                case ProviderStream stream when keeps(stream.source()) -> stream;
                case ProviderStream stream ->
                    throw new IllegalStateException("it answered with the stream of another request");
                default ->
                    throw new IllegalStateException("its answer is a "
                            + response.getClass().getName() + ": make answers with ModelResponse.of");
            };
        }

        private synchronized boolean keeps(ByteSource source) {
            return over || sources.contains(source);
        }

        private synchronized boolean keep(ByteSource source) {
            if (!over) {
                sources.add(source);
            }
            return !over;
        }

        /** Gives up every answer of the provider but one. */
        void abandon(ByteSource kept) {
            List<ByteSource> given;
            synchronized (this) {
                over = true;
                given = List.copyOf(sources);
                sources.clear();
            }
            for (ByteSource source : given) {
                if (source != kept) {
                    source.cancel();
                }
            }
        }
    }

    private static boolean streamed(int status, HeaderMap headers) {
        return status / 100 == 2
                && headers.first("content-type")
                        .filter(type -> type.toLowerCase(Locale.ROOT).startsWith("text/event-stream"))
                        .isPresent();
    }

    /** Whether HTTP has answers of this status with such a body. */
    private static boolean carried(ModelResponse.Whole whole) {
        return switch (whole.status()) {
            case 204, 205, 304 ->
                (whole instanceof ProviderWhole provided ? provided.raw() : Optional.<byte[]>empty())
                                .map(raw -> raw.length)
                                .orElseGet(() -> whole.body().length())
                        == 0;
            default -> whole.status() >= 200 && whole.status() <= 599;
        };
    }

    /** A plugin's whole answer; what is of a class of its own is asked now, while a failure is its own. */
    private static ModelResponse.Whole settled(ModelResponse.Whole given) {
        ModelResponse.Whole whole = given instanceof ProviderWhole
                ? given
                : ModelResponse.of(given.api(), given.status(), given.body()).withHeaders(given.headers());
        if (!carried(whole)) {
            throw new IllegalStateException("its answer has the status " + whole.status()
                    + ", which none with a body has: 200 to 599, 204, 205 and 304 aside");
        }
        return whole;
    }

    /** A plugin's own stream in the form in which the relay plays it. */
    private static ProviderStream played(ReplayedStream replayed, Share share) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (StreamEvent event : replayed.events()) {
            bytes.writeBytes(event.raw());
        }
        return new ProviderStream(
                replayed.api(),
                replayed.status(),
                replayed.headers(),
                HeaderMap.of(),
                ByteSource.of(bytes.toByteArray()),
                replayed.handlers().stream()
                        .map(handler -> new ProviderStream.Bound(handler, share))
                        .toList(),
                Optional.of(share));
    }
}
