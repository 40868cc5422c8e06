package org.nemorelay.worker.internal.plugins;

import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.EofException;
import org.eclipse.jetty.io.QuietException;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.IteratingCallback;
import org.nemorelay.http.Answers;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.Outcome;
import org.nemorelay.pipeline.Answer;
import org.nemorelay.pipeline.ByteSource;
import org.nemorelay.pipeline.Refusal;
import org.nemorelay.plugin.api.HeaderMap;
import org.nemorelay.plugin.api.ModelApi;

/** Writes an answer of the pipeline to the agent, each piece as it comes. */
final class AgentAnswer extends IteratingCallback {
    private static final String BROKEN = "the provider broke off its answer";

    private final ModelApi api;
    private final Response response;
    private final Callback callback;
    private final ByteSource body;
    private final ExchangeListener record;
    private CompletableFuture<byte[]> pending;
    private boolean headWritten;
    private boolean last;

    AgentAnswer(ModelApi api, Answer answer, Response response, Callback callback, ExchangeListener record) {
        this.api = api;
        this.response = response;
        this.callback = callback;
        this.body = answer.body();
        this.record = record;
        response.setStatus(answer.status());
        HttpFields.Mutable headers = response.getHeaders().clear();
        for (HeaderMap.Header header : answer.headers().list()) {
            if (header.name().equalsIgnoreCase("date")) {
                // The server's own date survives clear(): it can only be replaced.
                headers.put(HttpHeader.DATE, header.value());
            } else {
                headers.add(header.name(), header.value());
            }
        }
        record.responseHead(answer.status(), headers);
    }

    @Override
    protected Action process() throws Throwable {
        if (last) {
            return Action.SUCCEEDED;
        }
        CompletableFuture<byte[]> next = pending != null ? pending : body.read().toCompletableFuture();
        if (!next.isDone()) {
            pending = next;
            if (!headWritten) {
                headWritten = true;
                response.write(false, BufferUtil.EMPTY_BUFFER, this);
                return Action.SCHEDULED;
            }
            next.whenComplete((bytes, failure) -> iterate());
            return Action.IDLE;
        }
        pending = null;
        if (next.isCompletedExceptionally()) {
            throw next.exceptionNow();
        }
        byte[] bytes = next.resultNow();
        headWritten = true;
        last = bytes.length == 0;
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        if (record.wantsBytes() && !last) {
            record.responseBytes(buffer.asReadOnlyBuffer());
        }
        response.write(last, buffer, this);
        return Action.SCHEDULED;
    }

    @Override
    protected void onCompleteSuccess() {
        record.end(new Outcome.Completed(response.getStatus()));
        callback.succeeded();
    }

    @Override
    protected void onCompleteFailure(Throwable cause) {
        body.cancel();
        if (!headWritten) {
            record.end(new Outcome.BodyBroken(BROKEN));
            Answers.json(response, callback, 502, Refusal.error(502, BROKEN).json(api));
            return;
        }
        record.end(cause instanceof EofException ? new Outcome.ClientCancelled() : new Outcome.BodyBroken(BROKEN));
        callback.failed(cause instanceof QuietException ? cause : new QuietException.Exception(cause));
    }

    @Override
    public InvocationType getInvocationType() {
        return InvocationType.NON_BLOCKING;
    }
}
