package org.nemorelay.worker.internal.observe;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.zip.GZIPInputStream;
import java.util.zip.InflaterInputStream;
import org.nemorelay.json.Json;
import org.nemorelay.json.JsonException;

/** Reads the copy of an answer's body as far as it came. Owned by the dispatcher thread. */
final class AnswerCopy {
    private static final Set<String> DECODED = Set.of("gzip", "x-gzip", "deflate");

    private final int limit;
    private final boolean streamed;
    private final String encoding;
    private final long length;
    private final StreamedAnswer streamedAnswer;
    private final EventStream events;
    private ByteArrayOutputStream body = new ByteArrayOutputStream();
    private long received;

    /**
     * @param length the body's length, negative where the head does not tell
     * @param limit of the body's bytes, after decoding too
     */
    AnswerCopy(ModelApi api, String contentType, String contentEncoding, long length, int limit) {
        this.limit = limit;
        this.length = length;
        this.streamed = contentType.toLowerCase(Locale.ROOT).startsWith("text/event-stream");
        this.encoding = contentEncoding.trim().toLowerCase(Locale.ROOT);
        this.streamedAnswer = StreamedAnswer.of(api);
        this.events = new EventStream(streamedAnswer::data);
    }

    void bytes(byte[] bytes, int count) {
        received += count;
        if (streamed && plain()) {
            events.bytes(bytes, count);
        } else {
            body.write(bytes, 0, count);
        }
    }

    /** Lets go of what has come: the rest is missing, so that it will not be read. */
    void discard() {
        body = new ByteArrayOutputStream(0);
    }

    /** Whether the provider has said all that it will, so that nothing need be waited for. */
    boolean complete() {
        return streamedAnswer.complete() || length >= 0 && received >= length;
    }

    /** What could be read; call it last. */
    Optional<Map<String, Object>> answer() {
        try {
            byte[] decoded = plain() ? body.toByteArray() : decoded();
            if (streamed) {
                events.bytes(decoded, decoded.length);
                events.end();
                return streamedAnswer.answer();
            }
            return Optional.of(StreamedAnswer.objectOf(Json.parse(decoded))).filter(answer -> !answer.isEmpty());
        } catch (JsonException | IOException e) {
            // Neither JSON nor an encoding that this side reads: the record has the head alone.
            return Optional.empty();
        }
    }

    /** The content coding that this side does not read: the JDK has neither br nor zstd. */
    Optional<String> undecoded() {
        return plain() || DECODED.contains(encoding) ? Optional.empty() : Optional.of(encoding);
    }

    private boolean plain() {
        return encoding.isEmpty() || encoding.equals("identity");
    }

    private byte[] decoded() throws IOException {
        InputStream raw = new ByteArrayInputStream(body.toByteArray());
        try (InputStream in = switch (encoding) {
            case "gzip", "x-gzip" -> new GZIPInputStream(raw);
            case "deflate" -> new InflaterInputStream(raw);
            default -> throw new IOException("content-encoding " + encoding);
        }) {
            byte[] decoded = in.readNBytes(limit);
            if (in.read() >= 0) {
                throw new IOException("larger than the limit when decoded");
            }
            return decoded;
        }
    }
}
