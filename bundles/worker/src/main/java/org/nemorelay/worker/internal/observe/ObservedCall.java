package org.nemorelay.worker.internal.observe;

import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.eclipse.jetty.http.HttpFields;
import org.eclipse.jetty.http.HttpHeader;
import org.nemorelay.http.ExchangeListener;
import org.nemorelay.http.Outcome;

/**
 * The bounded copy of one model request's answer. I/O threads call its methods in the order of the stream; each
 * copies and returns. Bytes come here before they go on to the client, so what the client does next is recorded after
 * them.
 */
public final class ObservedCall implements ExchangeListener {
    private static final int MAX_FRAMES = 32;
    private static final int FRAME_BYTES = 64 * 1024;
    private static final int FIRST_FRAME_BYTES = 2 * 1024;

    private final TrafficEvents events;
    private final ObservedRequest request;
    private final int limit;
    private final boolean recordsBody;

    // Guarded by this; the request's body, where the record needs it, until that is handed over.
    private Optional<List<byte[]>> requestBody;

    private int bodyBytes;
    private boolean bodyTooLarge;

    // Guarded by this.
    private final Deque<Frame> frames = new ArrayDeque<>();
    private Optional<Head> head = Optional.empty();
    private Optional<Terminal> terminal = Optional.empty();
    private Instant heardAt = Instant.EPOCH;
    private long copied;
    private boolean truncated;
    private boolean scheduled;

    // Owned by the dispatcher thread.
    private Optional<ModelCall> call = Optional.empty();
    private Optional<AnswerCopy> copy = Optional.empty();
    private boolean reported;

    private record Head(int status, String contentType, String contentEncoding, long length) {}

    private static final class Frame {
        final byte[] bytes;
        int count;

        Frame(int size) {
            bytes = new byte[size];
        }
    }

    /**
     * @param limit of the copied bytes; what comes after them is missing in the record, which says so
     * @param awaitsBody whether the call begins only when its body was seen, else it has begun
     * @param recordsBody whether the record has the body
     */
    ObservedCall(TrafficEvents events, ObservedRequest request, int limit, boolean awaitsBody, boolean recordsBody) {
        this.events = events;
        this.request = request;
        this.limit = limit;
        this.recordsBody = recordsBody;
        this.requestBody = awaitsBody ? Optional.of(new ArrayList<>(1)) : Optional.empty();
    }

    synchronized boolean awaitsBody() {
        return requestBody.isPresent();
    }

    @Override
    public boolean wantsBytes() {
        return true;
    }

    @Override
    public synchronized void requestBytes(ByteBuffer bytes) {
        if (requestBody.isPresent() && !bodyTooLarge) {
            if (bodyBytes + bytes.remaining() > limit) {
                bodyTooLarge = true;
                requestBody.get().clear();
                return;
            }
            byte[] copy = new byte[bytes.remaining()];
            bytes.get(bytes.position(), copy);
            requestBody.get().add(copy);
            bodyBytes += copy.length;
        }
    }

    @Override
    public synchronized void requestEnd() {
        begin();
    }

    @Override
    public void responseHead(int status, HttpFields headers) {
        head(
                status,
                text(headers, HttpHeader.CONTENT_TYPE),
                text(headers, HttpHeader.CONTENT_ENCODING),
                headers.getLongField(HttpHeader.CONTENT_LENGTH));
    }

    @Override
    public void responseBytes(ByteBuffer bytes) {
        bytes(bytes);
    }

    @Override
    public void end(Outcome outcome) {
        end(
                switch (outcome) {
                    case Outcome.Completed completed -> Terminal.COMPLETE;
                    case Outcome.ClientCancelled cancelled -> Terminal.CANCELLED;
                    case Outcome.UploadAborted aborted -> Terminal.CANCELLED;
                    case Outcome.BodyBroken broken -> Terminal.BODY_ERROR;
                    case Outcome.BeforeHead failed -> Terminal.UNKNOWN;
                });
    }

    /** @param length negative where the head does not tell */
    synchronized void head(int status, String contentType, String contentEncoding, long length) {
        begin();
        head = Optional.of(new Head(status, contentType, contentEncoding, length));
        if (length > limit) {
            truncate();
        }
    }

    /** Bytes of the answer's body; the buffer's position stays. */
    synchronized void bytes(ByteBuffer bytes) {
        if (truncated) {
            return;
        }
        int from = bytes.position();
        int left = bytes.remaining();
        if (copied + left > limit) {
            truncate();
            return;
        }
        heardAt = Instant.now();
        copied += left;
        while (left > 0) {
            Frame tail = frames.peekLast();
            if (tail == null || tail.count == tail.bytes.length) {
                if (frames.size() == MAX_FRAMES) {
                    truncate();
                    return;
                }
                tail = new Frame(tail == null ? Math.clamp(left, firstFrame(), FRAME_BYTES) : FRAME_BYTES);
                frames.add(tail);
            }
            int count = Math.min(left, tail.bytes.length - tail.count);
            bytes.get(from, tail.bytes, tail.count, count);
            tail.count += count;
            from += count;
            left -= count;
        }
        schedule();
    }

    /** A small answer that tells its length needs no more than that. */
    private int firstFrame() {
        long length = head.map(Head::length).orElse(-1L);
        return length > 0 ? (int) Math.min(length, FIRST_FRAME_BYTES) : FIRST_FRAME_BYTES;
    }

    /** The exchange is over; later calls change nothing. */
    synchronized void end(Terminal how) {
        begin();
        if (terminal.isEmpty()) {
            terminal = Optional.of(how);
            heardAt = Instant.now();
            schedule();
        }
    }

    /** The dispatcher has opened the call's scope. */
    void started(ModelCall started) {
        call = Optional.of(started);
    }

    /** Reads what has come since the last time; on the dispatcher thread. */
    void drain(SessionEvents sessions) {
        Deque<Frame> taken;
        Optional<Head> answerHead;
        Optional<Terminal> over;
        Instant when;
        boolean lacking;
        synchronized (this) {
            scheduled = false;
            taken = new ArrayDeque<>(frames);
            frames.clear();
            answerHead = head;
            over = terminal;
            when = heardAt;
            lacking = truncated;
        }
        if (reported || call.isEmpty()) {
            return;
        }
        if (copy.isEmpty() && answerHead.isPresent()) {
            Head known = answerHead.get();
            copy = Optional.of(
                    new AnswerCopy(request.api(), known.contentType(), known.contentEncoding(), known.length(), limit));
        }
        if (lacking) {
            copy.ifPresent(AnswerCopy::discard);
        } else {
            copy.ifPresent(answer -> taken.forEach(frame -> answer.bytes(frame.bytes, frame.count)));
        }
        // The provider's last word ends the record: the hook that answers it may be here before the exchange is over.
        boolean complete = !lacking && copy.isPresent() && copy.get().complete();
        if (complete || over.isPresent()) {
            reported = true;
            sessions.callEnded(
                    when,
                    call.get(),
                    new CallResult(
                            answerHead.map(Head::status).orElse(0),
                            complete ? Terminal.COMPLETE : over.orElse(Terminal.UNKNOWN),
                            lacking,
                            lacking ? Optional.empty() : copy.flatMap(AnswerCopy::answer),
                            copy.flatMap(AnswerCopy::undecoded)));
            copy = Optional.empty();
        }
    }

    private void begin() {
        if (requestBody.isPresent()) {
            Optional<byte[]> body = bodyTooLarge || bodyBytes == 0
                    ? Optional.empty()
                    : Optional.of(joined(requestBody.get(), bodyBytes));
            requestBody = Optional.empty();
            events.begin(this, recordsBody && body.isPresent() ? recorded(body.get()) : request, body);
        }
    }

    /** A small body comes at once, and needs no more than its first copy. */
    private static byte[] joined(List<byte[]> pieces, int length) {
        if (pieces.size() == 1) {
            return pieces.getFirst();
        }
        ByteBuffer all = ByteBuffer.allocate(length);
        pieces.forEach(all::put);
        return all.array();
    }

    private ObservedRequest recorded(byte[] body) {
        String coding = request.head().getLast(HttpHeader.CONTENT_ENCODING);
        return request.withBody(new RequestCopy(body, coding == null ? "" : coding, limit));
    }

    private void truncate() {
        truncated = true;
        frames.clear();
    }

    private void schedule() {
        if (!scheduled) {
            scheduled = true;
            events.schedule(this);
        }
    }

    private static String text(HttpFields headers, HttpHeader name) {
        String value = headers.get(name);
        return value == null ? "" : value;
    }
}
