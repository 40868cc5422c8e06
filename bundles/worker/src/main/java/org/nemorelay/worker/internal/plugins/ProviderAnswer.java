package org.nemorelay.worker.internal.plugins;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.io.QuietException;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.nemorelay.http.Outcome;
import org.nemorelay.pipeline.Answer;
import org.nemorelay.pipeline.ByteSource;

/**
 * What the forwarder takes for the agent: takes the provider's answer out of its hands for the pipeline. The forwarder goes on
 * when what it wrote was read, so the provider is read no faster than the agent reads.
 */
final class ProviderAnswer extends Response.Wrapper implements Callback, ByteSource {
    private final SentRequest request;
    private final HttpFields.Mutable headers = HttpFields.build();
    private final CompletableFuture<Answer> head = new CompletableFuture<>();
    private int status;
    private Supplier<HttpFields> trailers;

    // Guarded by this.
    private boolean committed;
    private byte[] chunk;
    private Callback written;
    private CompletableFuture<byte[]> reader;
    private boolean ended;
    private boolean over;
    private Throwable failure;
    private boolean cancelled;

    ProviderAnswer(SentRequest request, Response response) {
        super(request, response);
        this.request = request;
    }

    /** The provider gave no answer. */
    static final class None extends IOException {
        private static final long serialVersionUID = 1L;
        private final transient Outcome.BeforeHead outcome;

        None(Outcome.BeforeHead outcome) {
            super(outcome.reason());
            this.outcome = outcome;
        }

        Outcome.BeforeHead outcome() {
            return outcome;
        }
    }

    CompletionStage<Answer> head() {
        return head;
    }

    /** Answers a request whose answer never came. */
    void none(Outcome.BeforeHead outcome, Response response, Callback callback) {
        head.completeExceptionally(new None(outcome));
        callback.succeeded();
    }

    /** Whether the pipeline wants no more of it. */
    synchronized boolean givenUp() {
        return cancelled;
    }

    // ---- what the forwarder does

    @Override
    public int getStatus() {
        return status;
    }

    @Override
    public void setStatus(int code) {
        status = code;
    }

    @Override
    public HttpFields.Mutable getHeaders() {
        return headers;
    }

    @Override
    public Supplier<HttpFields> getTrailersSupplier() {
        return trailers;
    }

    @Override
    public void setTrailersSupplier(Supplier<HttpFields> supplier) {
        trailers = supplier;
    }

    @Override
    public synchronized boolean isCommitted() {
        return committed;
    }

    @Override
    public synchronized boolean hasLastWrite() {
        return ended;
    }

    @Override
    public void write(boolean last, ByteBuffer bytes, Callback callback) {
        byte[] copy = bytes == null ? END : BufferUtil.toArray(bytes);
        if (bytes != null) {
            bytes.position(bytes.limit());
        }
        boolean first;
        CompletableFuture<byte[]> waiting = null;
        boolean goOn = false;
        boolean refused;
        synchronized (this) {
            first = !committed;
            committed = true;
            ended |= last;
            refused = cancelled;
            if (!refused) {
                if (copy.length == 0) {
                    goOn = true;
                } else {
                    written = callback;
                    waiting = reader;
                    reader = null;
                    if (waiting == null) {
                        chunk = copy;
                    }
                }
            }
        }
        if (first) {
            head.complete(new Answer(status, PluginHeaders.ofAnswer(headers), this));
        }
        if (refused) {
            callback.failed(given());
            return;
        }
        if (waiting != null) {
            waiting.complete(copy);
        }
        if (goOn) {
            callback.succeeded();
        }
    }

    /** Only now is the answer at its end: until here the forwarder may be reading the agent's request. */
    @Override
    public void succeeded() {
        CompletableFuture<byte[]> waiting;
        synchronized (this) {
            over = true;
            waiting = reader;
            reader = null;
        }
        if (waiting != null) {
            waiting.complete(END);
        }
    }

    @Override
    public void failed(Throwable cause) {
        CompletableFuture<byte[]> waiting;
        synchronized (this) {
            failure = cause;
            waiting = reader;
            reader = null;
        }
        head.completeExceptionally(cause);
        if (waiting != null) {
            waiting.completeExceptionally(cause);
        }
    }

    // ---- what the pipeline does

    @Override
    public CompletionStage<byte[]> read() {
        CompletableFuture<byte[]> next = new CompletableFuture<>();
        Callback goOn;
        synchronized (this) {
            goOn = written;
            if (chunk != null) {
                next.complete(chunk);
                chunk = null;
                return next;
            }
            written = null;
            if (goOn == null && failure != null) {
                next.completeExceptionally(failure);
            } else if (over) {
                next.complete(END);
            } else {
                reader = next;
            }
        }
        if (goOn != null) {
            goOn.succeeded();
        }
        return next;
    }

    @Override
    public void cancel() {
        Callback waiting;
        synchronized (this) {
            if (cancelled || ended && written == null) {
                return;
            }
            cancelled = true;
            waiting = written;
            written = null;
        }
        if (waiting != null) {
            waiting.failed(given());
        }
        request.giveUp(given());
    }

    private static Throwable given() {
        return new QuietException.Exception(new IOException("a plugin gave the answer up"));
    }
}
