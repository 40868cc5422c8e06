package org.nemorelay.http.internal;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
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
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
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
 * upstream client, and, with {@link Upload}, the source of the upstream request's body. The server's callback completes
 * when the last write is done and the client's result has come: either alone is too early (stack, last part).
 *
 * <p>What failed first is what is reported: {@link #outcome} is set once.
 */
final class ProxyExchange extends IteratingCallback
        implements org.eclipse.jetty.client.Response.ContentSourceListener,
                org.eclipse.jetty.client.Response.CompleteListener {
    /** How long a whole answer waits for the rest of a request that upstream has not taken. */
    private static final long UPLOAD_PATIENCE_MS = 20;

    /** More are nonsense, and each waits for the one before. */
    private static final int MAX_INTERIMS = 100;

    private static final HttpField TE_TRAILERS = new HttpField(HttpHeader.TE, "trailers");

    private final Request request;
    private final Response response;
    private final Callback callback;
    private final Destination destination;
    private final ExchangeListener listener;
    private final FailureAnswer failures;
    private final Scheduler scheduler;
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
    private final JoinedReads reads;
    private Content.Source source;
    private Content.Chunk held;
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
        this.reads = new JoinedReads(buffers);
        this.bytesWanted = listener.wantsBytes();
    }

    void start(UpstreamClient client) {
        long line = request.getMethod().length() + destination.target().length();
        Optional<String> excess = HeadRules.excess(line, request.getHeaders());
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
            upload = new Upload(this, request, first);
            upstream.body(upload);
            if (request.getLength() < 0 || request.getHeaders().contains(HttpHeader.TRAILER)) {
                upstream.trailersSupplier(() -> HeaderRules.trailers(request.getTrailers()));
            }
            if (request.getHeaders().contains(HttpHeader.EXPECT, HttpHeaderValue.CONTINUE.asString())) {
                expectContinue();
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

    /** Of HTTP/2 clients nobody can tell whether they wait with their body: they do not. */
    private void expectContinue() {
        // Takes what arrived with the head, and asks the client for nothing.
        boolean bodyIsHere = watched == null || upload.begun();
        Expectation expectation = new Expectation(this, upstream, scheduler, bodyIsHere);
        if (!bodyIsHere) {
            watched.watch(this::clientGone, expectation::bodyArrived);
        }
        upstream.onRequestCommit(sent -> expectation.headLeft());
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
        if (negotiated == HttpVersion.HTTP_2 && !HeadRules.isVisibleAscii(destination.target())) {
            // The encoder would fail, and with it every stream of the connection.
            String line = "the request's target holds bytes that HTTP/2 cannot carry: write them as %XX";
            fail(new Outcome.Unsendable(line), new IOException(line));
        }
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

    void uploadedBytes(ByteBuffer bytes) {
        if (bytesWanted && bytes.hasRemaining()) {
            listener.requestBytes(bytes.asReadOnlyBuffer());
        }
    }

    /** The whole body has been read; saying so again changes nothing. */
    void uploaded() {
        if (uploaded) {
            return;
        }
        uploaded = true;
        listener.requestEnd();
        if (watched != null) {
            watched.watch(this::clientGone);
        }
    }

    void uploadBroken(Throwable cause) {
        // The hop before resets what it has not sent, once it has the whole answer.
        if (!last) {
            outcome.compareAndSet(null, uploadAborted(cause));
        }
    }

    /** Whether the client may still be sending its body, so that no request of it can follow on the connection. */
    private boolean uploading() {
        return upload != null && !uploaded && upload.isOpen();
    }

    private void clientGone() {
        clientFailed(new IOException("the client closed the connection"));
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

    // ---- upstream's side

    /** Whether the exchange has neither an answer nor a failure yet. */
    boolean undecided() {
        return outcome.get() == null && !headDecided.get();
    }

    private void headLate() {
        fail(
                new Outcome.HeadTimeout("no response head from " + destination.origin() + " within "
                        + destination.headTimeoutMs() + " ms"),
                new TimeoutException("response head"));
    }

    /** A status that no hop would understand, which the client takes for an interim one. */
    void badStatus(int status) {
        badHead("sent the status " + status + ", which is none");
    }

    private void badHead(String problem) {
        String line = destination.origin() + " " + problem;
        fail(new Outcome.BadHead(line), new IOException(line));
    }

    /** A 1xx response of upstream. 100 goes no further: the server sends one when the client's body is first asked for. */
    void interim(int status, HttpFields headers) {
        if (status == 100 || request.getConnectionMetaData().getHttpVersion() == HttpVersion.HTTP_1_0) {
            return;
        }
        if (++interims > MAX_INTERIMS) {
            badHead("sent more than " + MAX_INTERIMS + " interim responses");
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
        Optional<String> problem = HeadRules.problem(head);
        if (problem.isPresent()) {
            badHead(problem.get());
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
        // Where the response is whole, that the request is not is of no account: it was answered early. Jetty may not
        // know yet
        // that it is.
        if (!last && (result.getResponseFailure() != null || result.isFailed() && !headDecided.get())) {
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
        letGo();
        Outcome end = outcome.get();
        if (end instanceof Outcome.BeforeHead failure) {
            listener.end(end);
            if (request.getConnectionMetaData().getHttpVersion() != HttpVersion.HTTP_2 && uploading()) {
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
                if (reads.isEmpty() && response.isCommitted()) {
                    source.demand(readMore);
                    return Action.IDLE;
                }
                // Nothing more is readable now: what there is goes out, be it the head alone.
                return write(false);
            }
            if (Content.Chunk.isFailure(chunk)) {
                if (reads.isEmpty() && response.isCommitted()) {
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
            boolean end = chunk.isLast();
            if (!reads.join(chunk)) {
                held = chunk;
                return write(false);
            }
            if (end || reads.isLarge()) {
                return write(end);
            }
        }
    }

    private Action write(boolean end) {
        ByteBuffer bytes = reads.bytes();
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

    @Override
    protected void onSuccess() {
        reads.release();
    }

    @Override
    protected void onCompleteSuccess() {
        reads.release();
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
        reads.release();
        if (held != null) {
            held.release();
            held = null;
        }
        // A write fails because the client is gone; a read fails with what upstream's result will say.
        outcome.compareAndSet(
                null,
                response.isCommitted() && source != null && writing(cause)
                        ? new Outcome.ClientCancelled()
                        : new Outcome.BodyBroken(line(destination.origin() + " broke off its response", cause)));
        upstream.abort(cause);
        if (ended.compareAndSet(false, true)) {
            letGo();
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
            letGo();
            listener.end(outcome.get());
            answered();
        }
    }

    private void answered() {
        if (closing && uploading()) {
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

    /** The request is the server's alone again, before it is told that the exchange is over. */
    private void letGo() {
        if (watched != null) {
            watched.unwatch();
        }
        if (upload != null) {
            upload.close();
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
