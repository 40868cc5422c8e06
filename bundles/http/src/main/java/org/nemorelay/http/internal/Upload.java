package org.nemorelay.http.internal;

import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Invocable;

/**
 * The body of an exchange's request: reads what the client sends, as fast as upstream takes it, and tells the exchange
 * what it sees. Upstream's client reads and demands one at a time; it may fail at any time and on any thread.
 */
final class Upload implements org.eclipse.jetty.client.Request.Content {
    private final ProxyExchange exchange;
    private final Request request;
    private final AtomicReference<Runnable> waiting = new AtomicReference<>();
    private volatile boolean demanded;
    /** Upstream wants no more of it; the client's side must not suffer by that, for its answer may be under way. */
    private volatile Throwable abandoned;

    private Content.Chunk first;
    /** Of a sized body: its last byte ends it, for the answer may come before its end is read. */
    private long left;

    /** @param first what has been read of the body already, or null */
    Upload(ProxyExchange exchange, Request request, Content.Chunk first) {
        this.exchange = exchange;
        this.request = request;
        this.first = first;
        this.left = request.getLength();
    }

    /** Whether something of it is here; before upstream reads. */
    boolean begun() {
        if (first == null) {
            first = request.read();
        }
        return first != null;
    }

    @Override
    public long getLength() {
        return request.getLength();
    }

    @Override
    public Content.Chunk read() {
        if (abandoned != null) {
            return Content.Chunk.from(abandoned, true);
        }
        Content.Chunk chunk = first;
        first = null;
        if (chunk == null) {
            chunk = request.read();
        }
        if (chunk == null) {
            return null;
        }
        if (Content.Chunk.isFailure(chunk)) {
            exchange.uploadBroken(chunk.getFailure());
            return chunk;
        }
        exchange.uploadedBytes(chunk.getByteBuffer());
        left -= chunk.remaining();
        if (left == 0 || chunk.isLast()) {
            exchange.uploaded();
        }
        return chunk;
    }

    @Override
    public void demand(Runnable demandCallback) {
        waiting.set(demandCallback);
        if (abandoned == null) {
            demanded = true;
            request.demand(Invocable.from(Invocable.InvocationType.NON_BLOCKING, () -> {
                demanded = false;
                proceed();
            }));
        } else {
            proceed();
        }
    }

    private void proceed() {
        Runnable reader = waiting.getAndSet(null);
        if (reader != null) {
            reader.run();
        }
    }

    @Override
    public void fail(Throwable failure) {
        abandoned = failure;
        proceed();
    }

    /** Whether there may be more of it; discards what is here. */
    boolean isOpen() {
        return demanded || !request.consumeAvailable();
    }

    @Override
    public boolean rewind() {
        return false;
    }

    @Override
    public String getContentType() {
        return null;
    }
}
