package org.nemorelay.worker.internal.plugins;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.QuietException;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.Promise;
import org.eclipse.jetty.util.thread.Invocable;
import org.nemorelay.http.Answers;
import org.nemorelay.http.Destination;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.FailureAnswer;
import org.nemorelay.http.Forwarder;
import org.nemorelay.http.HeaderEdit;
import org.nemorelay.http.Outcome;
import org.nemorelay.json.JsonText;
import org.nemorelay.pipeline.Answer;
import org.nemorelay.pipeline.Clearance;
import org.nemorelay.pipeline.ContentCodings;
import org.nemorelay.pipeline.Pipeline;
import org.nemorelay.pipeline.Refusal;
import org.nemorelay.pipeline.Stages;
import org.nemorelay.plugin.api.ModelApi;
import org.nemorelay.plugin.api.ModelRequest;

/**
 * One model request on its way through the plugins that act on it. Without one that reads the body, that streams from the
 * agent to the provider as ever; without one that acts on the answer, that streams back as ever. Never blocks.
 */
public final class PluginExchange {
    /** Larger bodies, and coded ones, are read elsewhere than on the I/O thread. */
    private static final int INLINE = 16 * 1024;

    private final Forwarder forwarder;
    private final Stages stages;
    private final long limit;
    private final Record record;
    private final ModelApi api;
    private final Request request;
    private final Response response;
    private final Callback callback;
    private final Destination destination;
    private final ExchangeListener providers;
    private final FailureAnswer failures;

    /** Where it is told what happened. */
    public interface Record {
        /**
         * A request that is about to be sent.
         *
         * @param headers as they are sent, the relay's own included; asked for at once or never
         * @param body plain, where a plugin read it
         */
        ExchangeListener sent(Supplier<HttpFields> headers, Optional<byte[]> body);

        /**
         * A request that is not sent.
         *
         * @param checks what guardrails said
         */
        void refused(HttpFields headers, Optional<byte[]> body, List<Clearance.Check> checks);
    }

    /**
     * @param limit {@code max_passthrough_body_bytes}
     * @param providers sees each exchange with the provider
     * @param failures answers the agent where the provider gave no answer
     */
    public PluginExchange(
            Forwarder forwarder,
            Stages stages,
            long limit,
            Record record,
            ModelApi api,
            Request request,
            Response response,
            Callback callback,
            Destination destination,
            ExchangeListener providers,
            FailureAnswer failures) {
        this.forwarder = forwarder;
        this.stages = stages;
        this.limit = limit;
        this.record = record;
        this.api = api;
        this.request = request;
        this.response = response;
        this.callback = callback;
        this.destination = destination;
        this.providers = providers;
        this.failures = failures;
    }

    public void start() {
        // An execution intercept may send the request more than once.
        if (!stages.needBody() && stages.executions().isEmpty()) {
            admit(Optional.empty(), ModelRequest.ofHead(api, path(), PluginHeaders.shown(request.getHeaders())));
            return;
        }
        if (request.getLength() > limit) {
            refuse(Refusal.tooLarge(limit));
            return;
        }
        Content.Source.asByteArrayAsync(
                request,
                (int) Math.min(limit, Integer.MAX_VALUE - 8),
                Promise.Invocable.from(Invocable.InvocationType.NON_BLOCKING, this::read, failure -> {
                    if (failure instanceof IllegalStateException) {
                        refuse(Refusal.tooLarge(limit));
                    } else {
                        failures.write(new Outcome.UploadAborted("the request's body broke off"), response, callback);
                    }
                }));
    }

    private String path() {
        return request.getHttpURI().getPath();
    }

    private void read(byte[] body) {
        String coding = String.join(",", request.getHeaders().getValuesList(HttpHeader.CONTENT_ENCODING));
        if (body.length <= INLINE && ContentCodings.plain(coding)) {
            decoded(body, body);
        } else {
            request.getComponents().getExecutor().execute(() -> {
                try {
                    decoded(body, ContentCodings.decode(body, coding, limit));
                } catch (ContentCodings.Unreadable e) {
                    refuse(
                            switch (e.why()) {
                                case UNKNOWN ->
                                    Refusal.error(
                                            415,
                                            "plugins cannot read the request's body (" + e.getMessage()
                                                    + "); use gzip, deflate or zstd, or none");
                                case CORRUPT ->
                                    Refusal.error(400, "the request's body cannot be read: " + e.getMessage());
                                case TOO_LARGE -> Refusal.tooLarge(limit);
                            });
                } catch (OutOfMemoryError e) {
                    refuse(Refusal.error(
                            503, "a request of " + body.length + " bytes does not fit into the worker's memory"));
                }
            });
        }
    }

    private void decoded(byte[] body, byte[] plain) {
        ModelRequest whole =
                ModelRequest.of(api, path(), PluginHeaders.shown(request.getHeaders()), JsonText.of(plain));
        Refusal.unreadable(whole).ifPresentOrElse(this::refuse, () -> admit(Optional.of(body), whole));
    }

    private void admit(Optional<byte[]> body, ModelRequest offered) {
        Forwarder.watch(request);
        Pipeline pipeline = new Pipeline(stages, limit);
        pipeline.admit(offered).thenAccept(clearance -> {
            switch (clearance.verdict()) {
                case Clearance.Verdict.Refused(Refusal refusal) -> {
                    record.refused(
                            request.getHeaders(),
                            body.map(ignored -> offered.body().bytes()),
                            clearance.checks());
                    refuse(refusal);
                }
                case Clearance.Verdict.Go(ModelRequest admitted) -> {
                    HeaderEdit edit = PluginHeaders.edit(offered.headers(), admitted.headers());
                    ExchangeListener observer = record.sent(
                            () -> {
                                HttpFields.Mutable sent = HttpFields.build(request.getHeaders());
                                edit.apply(sent);
                                return sent;
                            },
                            body.map(ignored -> admitted.body().bytes()));
                    if (stages.answer()) {
                        execute(pipeline, body, offered, admitted, observer);
                    } else {
                        forwarder.forward(
                                sentRequest(body, offered, admitted),
                                response,
                                callback,
                                destination(edit),
                                new Both(providers, observer),
                                failures);
                    }
                }
            }
        });
    }

    private void execute(
            Pipeline pipeline,
            Optional<byte[]> body,
            ModelRequest offered,
            ModelRequest admitted,
            ExchangeListener observer) {
        body.ifPresent(read -> {
            observer.requestBytes(ByteBuffer.wrap(read).asReadOnlyBuffer());
            observer.requestEnd();
        });
        pipeline.execute(admitted, changed -> send(body, offered, changed, observer))
                .whenComplete((answer, failure) -> {
                    if (failure == null) {
                        new AgentAnswer(api, answer, response, callback, observer).iterate();
                    } else if (failure instanceof ProviderAnswer.None none) {
                        observer.end(none.outcome());
                        failures.write(none.outcome(), response, callback);
                    } else {
                        observer.end(new Outcome.ClientCancelled());
                        callback.failed(
                                failure instanceof QuietException ? failure : new QuietException.Exception(failure));
                    }
                });
    }

    private CompletionStage<Answer> send(
            Optional<byte[]> body, ModelRequest offered, ModelRequest changed, ExchangeListener observer) {
        SentRequest sent = sentRequest(body, offered, changed);
        ProviderAnswer answer = new ProviderAnswer(sent, response);
        ExchangeListener ends = new UnlessGivenUp(answer, providers);
        forwarder.forward(
                sent,
                answer,
                answer,
                destination(PluginHeaders.edit(offered.headers(), changed.headers()), PluginHeaders.READABLE_ANSWER),
                body.isPresent() ? ends : new Both(ends, new RequestOnly(observer)),
                answer::none);
        return answer.head();
    }

    private SentRequest sentRequest(Optional<byte[]> body, ModelRequest offered, ModelRequest changed) {
        if (body.isEmpty()) {
            return new SentRequest(request);
        }
        boolean same = changed.body() == offered.body() || changed.body().equals(offered.body());
        return new SentRequest(request, same ? body.get() : changed.body().bytes(), same);
    }

    private Destination destination(HeaderEdit... edits) {
        HeaderEdit before = destination.request();
        return destination.withRequest(fields -> {
            before.apply(fields);
            for (HeaderEdit edit : edits) {
                edit.apply(fields);
            }
        });
    }

    private void refuse(Refusal refusal) {
        Answers.json(response, callback, refusal.status(), refusal.json(api));
    }

    /** An answer that a plugin ends or gives up is not broken off by the provider. */
    private record UnlessGivenUp(ProviderAnswer answer, ExchangeListener listener) implements ExchangeListener {
        @Override
        public void end(Outcome outcome) {
            listener.end(answer.givenUp() ? new Outcome.ClientCancelled() : outcome);
        }
    }

    /** Two listeners in one. */
    private record Both(ExchangeListener first, ExchangeListener second) implements ExchangeListener {
        @Override
        public boolean wantsBytes() {
            return first.wantsBytes() || second.wantsBytes();
        }

        @Override
        public void requestBytes(ByteBuffer bytes) {
            first.requestBytes(bytes.asReadOnlyBuffer());
            second.requestBytes(bytes);
        }

        @Override
        public void requestEnd() {
            first.requestEnd();
            second.requestEnd();
        }

        @Override
        public void responseHead(int status, HttpFields headers) {
            first.responseHead(status, headers);
            second.responseHead(status, headers);
        }

        @Override
        public void responseBytes(ByteBuffer bytes) {
            first.responseBytes(bytes.asReadOnlyBuffer());
            second.responseBytes(bytes);
        }

        @Override
        public void end(Outcome outcome) {
            first.end(outcome);
            second.end(outcome);
        }
    }

    /** Sees the request alone: the answer is recorded as the agent gets it. */
    private record RequestOnly(ExchangeListener listener) implements ExchangeListener {
        @Override
        public boolean wantsBytes() {
            return listener.wantsBytes();
        }

        @Override
        public void requestBytes(ByteBuffer bytes) {
            listener.requestBytes(bytes);
        }

        @Override
        public void requestEnd() {
            listener.requestEnd();
        }
    }
}
