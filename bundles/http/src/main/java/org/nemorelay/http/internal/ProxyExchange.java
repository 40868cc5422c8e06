package org.nemorelay.http.internal;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.eclipse.jetty.client.Result;
import org.eclipse.jetty.http.HttpException;
import org.eclipse.jetty.http.HttpField;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpHeaderValue;
import org.eclipse.jetty.http.HttpVersion;
import org.eclipse.jetty.io.ByteBufferPool;
import org.eclipse.jetty.io.Content;
import org.eclipse.jetty.io.QuietException;
import org.eclipse.jetty.io.RetainableByteBuffer;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.util.BufferUtil;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.IteratingCallback;
import org.eclipse.jetty.util.thread.Scheduler;
import org.nemorelay.http.Answers;
import org.nemorelay.http.Destination;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.FailureAnswer;
import org.nemorelay.http.HeaderRules;
import org.nemorelay.http.Outcome;
import org.nemorelay.http.WireProtocol;

/**
 * One forwarded exchange. It is the pump from upstream's response to the client ({@link #process}), the listener of the
 * upstream client, and, as {@link Upload}, the source of the upstream request's body. The server's callback completes
 * when the last write is done and the client's result has come: either alone is too early (stack, last part).
 *
 * <p>What failed first is what is reported: {@link #outcome} is set once.
 */
final class ProxyExchange extends IteratingCallback
        implements org.eclipse.jetty.client.Response.ContentSourceListener,
                org.eclipse.jetty.client.Response.CompleteListener {
    /** As much as one write joins; a larger read goes out by itself. */
    private static final int JOIN = 16 * 1024;
    /** From here on a read is written without waiting for what else is readable. */
    private static final int LARGE = JOIN / 2;
    /** A provider that answers no {@code Expect} gets the body after this long; that client waits, too. */
    private static final long EXPECT_PATIENCE_MS = 200;

    /** How long a whole answer waits for the rest of a request that upstream has not taken. */
    private static final long UPLOAD_PATIENCE_MS = 20;

    /** More are nonsense, and each waits for the one before. */
    private static final int MAX_INTERIMS = 100;

    /** What each hop writes anew. */
    private static final EnumSet<HttpHeader> OF_THE_HOP =
            EnumSet.of(HttpHeader.DATE, HttpHeader.CONNECTION, HttpHeader.TRANSFER_ENCODING, HttpHeader.HOST);

    private static final HttpField TE_TRAILERS = new HttpField(HttpHeader.TE, "trailers");

    private final Request request;
    private final Response response;
    private final Callback callback;
    private final Destination destination;
    private final ExchangeListener listener;
    private final FailureAnswer failures;
    private final Scheduler scheduler;
    private final ByteBufferPool buffers;
    private final boolean bytesWanted;

    private final AtomicReference<Outcome> outcome = new AtomicReference<>();
    private final AtomicBoolean headDecided = new AtomicBoolean();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final AtomicInteger awaited = new AtomicInteger(2);
    private final Runnable readMore =
            org.eclipse.jetty.util.thread.Invocable.from(InvocationType.NON_BLOCKING, this::iterate);

    private UpstreamClient.UpstreamRequest upstream;
    private WatchedEndPoint watched;
    private Upload upload;
    private Scheduler.Task headDeadline;
    private CompletableFuture<Void> interim;
    private int interims;
    private volatile boolean submitted;
    private volatile boolean uploaded;
    private volatile boolean multiplexed;
    /** The answer says that no request can follow it, as the client may still be sending this one. */
    private volatile boolean closing;

    // The pump's own; IteratingCallback serialises it.
    private Content.Source source;
    private Content.Chunk held;
    private Content.Chunk alone;
    private RetainableByteBuffer joined;
    /** Volatile, for the client may leave as soon as it has it. */
    private volatile boolean last;

    ProxyExchange(
            Request request,
            Response response,
            Callback callback,
            Destination destination,
            ExchangeListener listener,
            FailureAnswer failures,
            Scheduler scheduler,
            ByteBufferPool buffers) {
        this.request = request;
        this.response = response;
        this.callback = callback;
        this.destination = destination;
        this.listener = listener;
        this.failures = failures;
        this.scheduler = scheduler;
        this.buffers = buffers;
        this.bytesWanted = listener.wantsBytes();
    }

    void start(UpstreamClient client) {
        long line = request.getMethod().length() + destination.target().length();
        Optional<String> excess = excess(line, request.getHeaders());
        if (excess.isPresent()) {
            refuse(new Outcome.Unsendable("the request's head has " + excess.get()));
            return;
        }
        boolean http1 = destination.protocol() == WireProtocol.HTTP_1_1;
        upstream = client.newRequest(
                destination.origin().uri(),
                request.getMethod(),
                destination.target(),
                http1 ? HttpVersion.HTTP_1_1 : HttpVersion.HTTP_2,
                this);
        destination.origin().onlyRoot().ifPresent(upstream::tag);
        upstream.idleTimeout(http1 ? UpstreamEndPoint.IN_USE : 0, TimeUnit.MILLISECONDS);
        upstream.onRequestBegin(begun -> begin(begun.getVersion()));
        upstream.headers(this::requestHead);
        watched = WatchedEndPoint.of(request).orElse(null);
        request.addFailureListener(this::clientFailed);
        Content.Chunk first = null;
        boolean body = request.getLength() > 0 || chunked(request.getHeaders());
        if (!body
                && request.getLength() < 0
                && request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_2) {
            first = request.read();
            body = first == null || !first.isLast() || first.hasRemaining() || Content.Chunk.isFailure(first);
        }
        if (body) {
            upload = new Upload(first);
            upstream.body(upload);
            if (request.getLength() < 0 || request.getHeaders().contains(HttpHeader.TRAILER)) {
                upstream.trailersSupplier(() -> HeaderRules.trailers(request.getTrailers()));
            }
            if (request.getHeaders().contains(HttpHeader.EXPECT, HttpHeaderValue.CONTINUE.asString())) {
                new Expectation().await(first);
            }
        } else {
            uploaded();
        }
        if (destination.headTimeoutMs() > 0) {
            headDeadline = scheduler.schedule(this::headLate, destination.headTimeoutMs(), TimeUnit.MILLISECONDS);
        }
        listener.begin(this::cut);
        upstream.send(this);
    }

    /** Answers an exchange for which there is no client. */
    void refuse(String reason) {
        refuse(new Outcome.ConnectFailed("cannot connect to " + destination.origin() + ": " + reason));
    }

    private void refuse(Outcome.BeforeHead end) {
        outcome.compareAndSet(null, end);
        if (headDecided.compareAndSet(false, true)) {
            answerFailure(new IOException(end.reason()));
        }
    }

    /** A connection is there and the head is about to leave; over TLS only now its protocol is known. */
    private void begin(HttpVersion negotiated) {
        submitted = true;
        multiplexed = negotiated == HttpVersion.HTTP_2;
        if (negotiated == HttpVersion.HTTP_2 && destination.protocol() == WireProtocol.HTTP_1_1) {
            upstream.idleTimeout(0, TimeUnit.MILLISECONDS);
            upstream.headers(headers -> headers.remove(HttpHeader.HOST));
        }
        if (negotiated == HttpVersion.HTTP_2 && !isVisibleAscii(destination.target())) {
            // The encoder would fail, and with it every stream of the connection.
            String line = "the request's target holds bytes that HTTP/2 cannot carry: write them as %XX";
            fail(new Outcome.Unsendable(line), new IOException(line));
        }
    }

    private static boolean isVisibleAscii(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) <= ' ' || text.charAt(i) > '~') {
                return false;
            }
        }
        return true;
    }

    /** What a head has too much of, counted alike by each hop: its bytes as HTTP/1.1 writes them, or its fields. */
    private static Optional<String> excess(long line, HttpFields headers) {
        long bytes = line;
        int fields = 0;
        for (HttpField field : headers) {
            if (field.getHeader() == null || !OF_THE_HOP.contains(field.getHeader())) {
                fields++;
                bytes += field.getName().length() + 4L;
                bytes += field.getValue() == null ? 0 : field.getValue().length();
            }
        }
        return fields > UpstreamClient.MAX_FIELDS
                ? Optional.of("more than " + UpstreamClient.MAX_FIELDS + " fields")
                : bytes > UpstreamClient.HEAD_LIMIT
                        ? Optional.of("more than " + UpstreamClient.HEAD_LIMIT + " bytes")
                        : Optional.empty();
    }

    private void requestHead(HttpFields.Mutable headers) {
        if (destination.protocol() == WireProtocol.HTTP_1_1) {
            HeaderRules.copyRequest(
                    request.getHeaders(), headers, destination.origin().authority());
        } else {
            HeaderRules.copyEndToEnd(request.getHeaders(), headers);
            headers.remove(HttpHeader.HOST);
        }
        destination.request().apply(headers);
        headers.add(TE_TRAILERS);
    }

    private static boolean chunked(HttpFields headers) {
        return headers.contains(HttpHeader.TRANSFER_ENCODING);
    }

    // ---- the client's side

    private void uploaded() {
        uploaded = true;
        listener.requestEnd();

        if (watched != null) {
            watched.watch(() -> clientFailed(new IOException("the client closed the connection")));
        }
    }

    private void clientFailed(Throwable cause) {
        // Once the whole answer has left, the write alone tells whether the client got it.
        if (!last) {
            fail(uploaded || headDecided.get() ? new Outcome.ClientCancelled() : uploadAborted(cause), cause);
        }
    }

    private static Outcome uploadAborted(Throwable cause) {
        return new Outcome.UploadAborted(line("the request's body broke off", cause));
    }

    /** Reads what the client sends, as fast as upstream takes it. */
    private final class Upload implements org.eclipse.jetty.client.Request.Content {
        private final AtomicReference<Runnable> waiting = new AtomicReference<>();
        private volatile boolean demanded;
        /** Upstream wants no more of it; the client's side must not suffer by that, for its answer may be under way. */
        private volatile Throwable abandoned;

        private Content.Chunk first;
        /** Of a sized body: its last byte ends it, for the answer may come before its end is read. */
        private long left = request.getLength();

        Upload(Content.Chunk first) {
            this.first = first;
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
                // The hop before resets what it has not sent, once it has the whole answer.
                if (!last) {
                    outcome.compareAndSet(null, uploadAborted(chunk.getFailure()));
                }
                return chunk;
            }
            if (bytesWanted && chunk.hasRemaining()) {
                listener.requestBytes(chunk.getByteBuffer().asReadOnlyBuffer());
            }
            left -= chunk.remaining();
            if (!uploaded && (left == 0 || chunk.isLast())) {
                uploaded();
            }
            return chunk;
        }

        @Override
        public void demand(Runnable demandCallback) {
            waiting.set(demandCallback);
            if (abandoned == null) {
                demanded = true;
                request.demand(org.eclipse.jetty.util.thread.Invocable.from(InvocationType.NON_BLOCKING, () -> {
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

        /** Whether the client may still be sending it, so that no request of it can follow on the connection. */
        private boolean isOpen() {
            return !uploaded && (demanded || !request.consumeAvailable());
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

    // ---- upstream's side

    /**
     * What becomes of {@code Expect: 100-continue}: a client that waits for its provider does so for a while at most, and
     * one that sends its body without waiting is not kept. Of HTTP/2 clients nobody can tell which they are: they do not wait.
     */
    private final class Expectation {
        private volatile boolean committed;
        private volatile boolean bodyIsHere;

        void await(Content.Chunk first) {
            bodyIsHere = watched == null || first != null;
            if (!bodyIsHere) {
                // Takes what arrived with the head, and asks the client for nothing.
                upload.first = request.read();
                bodyIsHere = upload.first != null;
            }
            if (!bodyIsHere) {
                watched.watch(
                        () -> clientFailed(new IOException("the client closed the connection")), this::bodyArrived);
            }
            upstream.onRequestCommit(sent -> headLeft());
        }

        private void bodyArrived() {
            bodyIsHere = true;
            if (committed) {
                proceed();
            }
        }

        private void headLeft() {
            committed = true;
            if (bodyIsHere) {
                proceed();
            } else {
                scheduler.schedule(this::proceed, EXPECT_PATIENCE_MS, TimeUnit.MILLISECONDS);
            }
        }

        private void proceed() {
            if (outcome.get() == null && !headDecided.get()) {
                var exchange = upstream.getConversation().getExchanges().peekLast();
                if (exchange != null) {
                    exchange.proceed(null, null);
                }
            }
        }
    }

    private void headLate() {
        fail(
                new Outcome.HeadTimeout("no response head from " + destination.origin() + " within "
                        + destination.headTimeoutMs() + " ms"),
                new TimeoutException("response head"));
    }

    /** A status that no hop would understand, which the client takes for an interim one. */
    void badStatus(int status) {
        String line = destination.origin() + " sent the status " + status + ", which is none";
        fail(new Outcome.BadHead(line), new IOException(line));
    }

    /** A 1xx response of upstream. 100 goes no further: the server sends one when the client's body is first asked for. */
    void interim(int status, HttpFields headers) {
        if (status == 100 || request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_1_0) {
            return;
        }
        if (++interims > MAX_INTERIMS) {
            String line = destination.origin() + " sent more than " + MAX_INTERIMS + " interim responses";
            fail(new Outcome.BadHead(line), new IOException(line));
            return;
        }
        HttpFields.Mutable passed = HttpFields.build();
        HeaderRules.copyEndToEnd(headers, passed);
        // There is no content to measure (RFC 9110 8.6), and a next hop might wait for it.
        passed.remove(HttpHeader.CONTENT_LENGTH);
        CompletableFuture<Void> before = interim;
        interim = before == null
                ? response.writeInterim(status, passed)
                : before.thenCompose(done -> response.writeInterim(status, passed));
    }

    @Override
    public void onContentSource(org.eclipse.jetty.client.Response head, Content.Source content) {
        if (headDeadline != null) {
            headDeadline.cancel();
        }
        String problem = problem(head);
        if (problem != null) {
            fail(new Outcome.BadHead(problem), new IOException(problem));
            return;
        }
        if (!headDecided.compareAndSet(false, true)) {
            return;
        }
        source = content;
        responseHead(head);
        CompletableFuture<Void> before = interim;
        if (before == null || before.isDone()) {
            iterate();
        } else {
            before.whenComplete((done, failure) -> iterate());
        }
    }

    private String problem(org.eclipse.jetty.client.Response head) {
        if (!isStatus(head.getStatus())) {
            return destination.origin() + " sent the status " + head.getStatus() + ", which is none";
        }
        Optional<String> excess = excess(0, head.getHeaders());
        if (excess.isPresent()) {
            return destination.origin() + " sent a head of " + excess.get();
        }
        if (head.getStatus() == 101 || head.getHeaders().contains(HttpHeader.UPGRADE)) {
            return destination.origin() + " tried to change the protocol";
        }
        return HeaderRules.connectionReadable(head.getHeaders())
                ? null
                : destination.origin() + " sent an invalid Connection header";
    }

    private static boolean isStatus(int status) {
        return status >= 100 && status <= 999;
    }

    private void responseHead(org.eclipse.jetty.client.Response head) {
        response.setStatus(head.getStatus());
        HttpFields.Mutable headers = response.getHeaders();
        HeaderRules.copyEndToEnd(head.getHeaders(), headers.clear());
        HttpField date = head.getHeaders().getField(HttpHeader.DATE);
        if (date != null) {
            // The server's own date survives clear() and remove(): it can only be replaced.
            headers.put(date);
        }
        if (head.getStatus() == 204) {
            headers.remove(
                    HttpHeader.CONTENT_LENGTH); // There is none to measure (RFC 9110 8.6), and the server would refuse.
        }
        destination.response().apply(headers);
        if (!uploaded && request.getConnectionMetaData().getHttpVersion() != HttpVersion.HTTP_2) {
            // An early answer: what is left of the body is discarded, and no request can follow it.
            headers.put(HttpFields.CONNECTION_CLOSE);
            closing = true;
        }
        // With a supplier HTTP/1.1 answers in chunks, so a sized body gets one only where trailers were announced.
        boolean announced = headers.contains(HttpHeader.TRAILER);
        boolean sized = headers.contains(HttpHeader.CONTENT_LENGTH);
        if (announced || !sized || request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_2) {
            response.setTrailersSupplier(() -> HeaderRules.trailers(head.getTrailers()));
            if (announced && sized && request.getConnectionMetaData().getHttpVersion() != HttpVersion.HTTP_2) {
                headers.remove(HttpHeader.CONTENT_LENGTH);
            }
        }
        listener.responseHead(head.getStatus(), headers);
    }

    @Override
    public void onComplete(Result result) {
        // Where the response is whole, that the request is not is of no account: it was answered early.
        if (result.getResponseFailure() != null || result.isFailed() && !headDecided.get()) {
            Throwable cause = result.getFailure();
            outcome.compareAndSet(null, outcomeOf(cause));
            if (headDecided.compareAndSet(false, true)) {
                answerFailure(cause);
                return;
            }
        }
        half();
    }

    private Outcome outcomeOf(Throwable cause) {
        String origin = destination.origin().toString();
        if (!submitted) {
            return new Outcome.ConnectFailed("cannot connect to " + origin + ": " + ConnectProblem.of(cause));
        }
        if (headDecided.get()) {
            return new Outcome.BodyBroken(line(origin + " broke off its response", cause));
        }
        return cause instanceof HttpException || cause instanceof org.eclipse.jetty.client.HttpResponseException
                ? new Outcome.BadHead(line(origin + " sent no valid response head", cause))
                : new Outcome.NoResponse(line(origin + " closed the connection without a response", cause));
    }

    private void answerFailure(Throwable cause) {
        if (headDeadline != null) {
            headDeadline.cancel();
        }
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        unwatch();
        Outcome end = outcome.get();
        if (end instanceof Outcome.BeforeHead failure) {
            listener.end(end);
            if (upload != null
                    && request.getConnectionMetaData().getHttpVersion() != HttpVersion.HTTP_2
                    && upload.isOpen()) {
                request.setAttribute(Answers.LAST, true);
                closing = true;
            }
            failures.write(
                    failure, response, Callback.from(InvocationType.NON_BLOCKING, this::answered, callback::failed));
        } else {
            listener.end(end);

            callback.failed(quiet(cause));
        }
    }

    // ---- the pump

    @Override
    protected Action process() throws Throwable {
        while (true) {
            if (last) {
                return Action.SUCCEEDED;
            }
            Content.Chunk chunk = held;
            held = null;
            if (chunk == null) {
                chunk = source.read();
                if (bytesWanted && chunk != null && chunk.hasRemaining()) {
                    listener.responseBytes(chunk.getByteBuffer().asReadOnlyBuffer());
                }
            }
            if (chunk == null) {
                if (alone == null && joined == null && response.isCommitted()) {
                    source.demand(readMore);
                    return Action.IDLE;
                }
                // Nothing more is readable now: what there is goes out, be it the head alone.
                return write(false);
            }
            if (Content.Chunk.isFailure(chunk)) {
                if (alone == null && joined == null && response.isCommitted()) {
                    throw chunk.getFailure();
                }
                // What came before it, be it the head alone, is the client's, and tells the hop before whose fault it
                // is.
                held = chunk;
                return write(false);
            }
            if (chunk.isLast() && !chunk.hasRemaining()) {
                chunk.release();
                return write(true);
            }
            if (alone == null && joined == null) {
                alone = chunk;
                if (chunk.isLast() || chunk.remaining() >= LARGE) {
                    return write(chunk.isLast());
                }
            } else if (!join(chunk)) {
                held = chunk;
                return write(false);
            } else if (chunk.isLast()) {
                return write(true);
            }
        }
    }

    private boolean join(Content.Chunk chunk) {
        if (joined == null) {
            if (alone.remaining() + chunk.remaining() > JOIN) {
                return false;
            }
            joined = buffers.acquire(JOIN, true);
            append(alone);
            alone = null;
        } else if (BufferUtil.space(joined.getByteBuffer()) < chunk.remaining()) {
            return false;
        }
        append(chunk);
        return true;
    }

    private void append(Content.Chunk chunk) {
        ByteBuffer target = joined.getByteBuffer();
        int position = BufferUtil.flipToFill(target);
        target.put(chunk.getByteBuffer());
        BufferUtil.flipToFlush(target, position);
        chunk.release();
    }

    private Action write(boolean end) {
        ByteBuffer bytes = alone != null
                ? alone.getByteBuffer()
                : joined != null ? joined.getByteBuffer() : BufferUtil.EMPTY_BUFFER;
        if (end && !response.isCommitted() && bytes.hasRemaining() && trailers()) {
            // One whole write would announce a length, and a sized body has no trailers on the next hop.
            held = Content.Chunk.EOF;
            response.write(false, bytes, this);
        } else {
            last = end;
            response.write(end, bytes, this);
        }
        return Action.SCHEDULED;
    }

    private boolean trailers() {
        Supplier<HttpFields> trailers = response.getTrailersSupplier();
        return trailers != null && trailers.get() != null && trailers.get().size() > 0;
    }

    private void release() {
        if (alone != null) {
            alone.release();
            alone = null;
        }
        if (joined != null) {
            joined.release();
            joined = null;
        }
    }

    @Override
    protected void onSuccess() {
        release();
    }

    @Override
    protected void onCompleteSuccess() {
        release();
        outcome.compareAndSet(null, new Outcome.Completed(response.getStatus()));
        if (!uploaded) {
            abandonUpload();
        } else if (!half() && !upstream.sent()) {
            // Another thread may be about to say that it is; or upstream reads no more, or its connection is broken.
            scheduler.schedule(this::abandonUpload, UPLOAD_PATIENCE_MS, TimeUnit.MILLISECONDS);
        }
    }

    /** An early answer: the rest of the body is of no use to anyone, and upstream's taking it is not waited for. */
    private void abandonUpload() {
        org.eclipse.jetty.client.Connection connection = upstream.getConnection();
        CompletableFuture<Boolean> aborted = upstream.abort(new IOException("answered before the request's end"));
        boolean inVain = aborted.isDone() && !aborted.isCompletedExceptionally() && !aborted.join();
        if (!inVain && connection != null && !multiplexed) {
            // A write may wait in it. No other exchange can have it, for this one's request has failed.
            connection.close();
        }
        end();
    }

    @Override
    protected void onCompleteFailure(Throwable cause) {
        release();
        if (held != null) {
            held.release();
            held = null;
        }
        // A write fails because the client is gone; a read fails with what upstream's result will say.
        outcome.compareAndSet(
                null,
                response.isCommitted() && source instanceof Content.Source && writing(cause)
                        ? new Outcome.ClientCancelled()
                        : new Outcome.BodyBroken(line(destination.origin() + " broke off its response", cause)));
        upstream.abort(cause);
        if (ended.compareAndSet(false, true)) {
            unwatch();
            listener.end(outcome.get());

            callback.failed(quiet(cause));
        }
    }

    private static boolean writing(Throwable cause) {
        return cause instanceof org.eclipse.jetty.io.EofException;
    }

    @Override
    public InvocationType getInvocationType() {
        return InvocationType.NON_BLOCKING;
    }

    // ---- the end

    private boolean half() {
        boolean both = awaited.decrementAndGet() == 0;
        if (both) {
            end();
        }
        return both;
    }

    private void end() {
        if (ended.compareAndSet(false, true)) {
            unwatch();
            listener.end(outcome.get());

            answered();
        }
    }

    private void answered() {
        if (closing && upload != null && upload.isOpen()) {
            // Its end point discards what still comes.
            request.getConnectionMetaData().getConnection().getEndPoint().close();
        }
        callback.succeeded();
    }

    private void fail(Outcome end, Throwable cause) {
        if (!ended.get() && outcome.compareAndSet(null, end)) {
            upstream.abort(cause);
        }
    }

    private void cut() {
        if (!ended.get()) {
            upstream.abort(new IOException("given up"));
        }
    }

    private void unwatch() {
        if (watched != null) {
            watched.unwatch();
        }
    }

    /** The outcome tells it already; Jetty would warn of it with a dump of its objects. */
    private static Throwable quiet(Throwable cause) {
        return cause instanceof QuietException ? cause : new QuietException.Exception(cause);
    }

    /** What went wrong in the platform's words; a library's own message may hold its objects and addresses. */
    private static String line(String what, Throwable cause) {
        String words = switch (cause) {
            case HttpException refused -> refused.getReason();
            case EOFException _, ClosedChannelException _ -> null;
            case IOException failed when failed.getClass().getName().startsWith("java.") -> failed.getMessage();
            default -> null;
        };
        return words == null ? what : what + ": " + words.lines().findFirst().orElse("");
    }
}
