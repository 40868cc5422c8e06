package org.nemorelay.worker.internal.plugins;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;

/** The request as it is sent: with a body that is in memory in the place of its own, where there is one; and it can be given up. */
final class SentRequest extends Request.Wrapper {
    private final Optional<HttpFields> headers;
    private final List<Consumer<Throwable>> failureListeners = new CopyOnWriteArrayList<>();
    private final Optional<byte[]> body;
    private boolean given;

    /** With its own body, which can be sent once. */
    SentRequest(Request request) {
        super(request);
        this.headers = Optional.empty();
        this.body = Optional.empty();
    }

    /** @param coded whether the body still has the content coding that the head tells */
    SentRequest(Request request, byte[] body, boolean coded) {
        super(request);
        HttpFields.Mutable fields = HttpFields.build(request.getHeaders())
                .remove(HttpHeader.TRANSFER_ENCODING)
                .remove(HttpHeader.TRAILER)
                // Its body is here.
                .remove(HttpHeader.EXPECT)
                .put(HttpHeader.CONTENT_LENGTH, body.length);
        if (!coded) {
            fields.remove(HttpHeader.CONTENT_ENCODING);
        }
        this.headers = Optional.of(fields.asImmutable());
        this.body = Optional.of(body);
    }

    /** Nobody waits for its answer any more. */
    void giveUp(Throwable cause) {
        failureListeners.forEach(listener -> listener.accept(cause));
    }

    @Override
    public void addFailureListener(Consumer<Throwable> listener) {
        failureListeners.add(listener);
        super.addFailureListener(listener);
    }

    @Override
    public HttpFields getHeaders() {
        return headers.orElseGet(super::getHeaders);
    }

    @Override
    public HttpFields getTrailers() {
        return body.isPresent() ? null : super.getTrailers();
    }

    @Override
    public long getLength() {
        return body.isPresent() ? body.get().length : super.getLength();
    }

    @Override
    public Content.Chunk read() {
        if (body.isEmpty()) {
            return super.read();
        }
        if (given) {
            return Content.Chunk.EOF;
        }
        given = true;
        return Content.Chunk.from(ByteBuffer.wrap(body.get()), true);
    }

    @Override
    public void demand(Runnable callback) {
        if (body.isEmpty()) {
            super.demand(callback);
        } else {
            callback.run();
        }
    }

    @Override
    public void fail(Throwable failure) {
        if (body.isEmpty()) {
            super.fail(failure);
        }
    }
}
