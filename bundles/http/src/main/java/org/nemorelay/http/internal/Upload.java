package org.nemorelay.http.internal;

import java.io.IOException;
import java.util.concurrent.atomic.AtomicReference;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Invocable;

/**
 * The body of an exchange's request: reads what the client sends, as fast as upstream takes it, and tells the exchange
 * what it sees. Upstream's client reads and demands one at a time; it may fail at any time and on any thread, and so may the
 * exchange be over: from then on nobody touches the request but the server.
 */
final class Upload implements org.eclipse.jetty.client.Request.Content {
    private final ProxyExchange exchange;
    private final Request request;
    private final AtomicReference<Runnable> waiting = new AtomicReference<>();
    private volatile boolean demanded;
    /** Upstream wants no more of it; the client's side must not suffer by that, for its answer may be under way. */
    private volatile Throwable abandoned;

    // Guarded by this, as is every use of the request.
    private Content.Chunk first;
    private boolean readable;
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
    public synchronized Content.Chunk read() {
        if (abandoned != null) {
            return Content.Chunk.from(abandoned, true);
        }
        Content.Chunk chunk = first == null ? request.read() : first;
        first = null;
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
        boolean now;
        synchronized (this) {
            readable = false;
            if (abandoned == null) {
                demanded = true;
                request.demand(Invocable.from(Invocable.InvocationType.NON_BLOCKING, this::readable));
            }
            now = readable || abandoned != null;
        }
        if (now) {
            proceed();
        }
    }

    private void readable() {
        demanded = false;
        if (Thread.holdsLock(this)) {
            // Within the demand for it.
            readable = true;
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

    /** Has upstream read no more of it, and waits for a read that is under way. */
    synchronized void close() {
        if (abandoned == null) {
            abandoned = new IOException("the exchange is over");
        }
    }

    /** Whether there may be more of it; discards what is here. After {@link #close()}. */
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
