package org.nemorelay.files.internal;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** HTTP/1.1 messages with a length, on any connection. One thread at a time. */
public final class Wire {
    private static final int MAX_HEAD = 32 * 1024;
    private static final int CHUNK = 256 * 1024;

    /** @param first the words of the first line; headers by lower-case name */
    public record Head(List<String> first, Map<String, String> headers) {
        public String header(String name) {
            return headers.getOrDefault(name, "");
        }

        /** The length of the body that follows; {@link IOException} for one that cannot be told. */
        public long length() throws IOException {
            if (headers.containsKey("transfer-encoding")) {
                throw new IOException("a body needs a Content-Length");
            }
            return number("content-length", 0);
        }

        public long number(String name, long otherwise) throws IOException {
            String text = header(name);
            if (text.isEmpty()) {
                return otherwise;
            }
            try {
                return Long.parseUnsignedLong(text);
            } catch (NumberFormatException e) {
                throw new IOException("the header " + name + " is no number");
            }
        }
    }

    /** Told of every movement, so that only a standstill ends a transfer. */
    public interface Pulse {
        void beat();
    }

    private final ByteChannel channel;
    private final Pulse pulse;
    private final ByteBuffer in = ByteBuffer.allocate(CHUNK).flip();
    private boolean ended;

    public Wire(ByteChannel channel, Pulse pulse) {
        this.channel = channel;
        this.pulse = pulse;
    }

    /** The peer takes no more messages. */
    public void ended() {
        ended = true;
    }

    /** Whether another message may follow. */
    public boolean open() {
        return !ended;
    }

    /** The next message's head; empty when the connection ended before its first byte. */
    public Optional<Head> head() throws IOException {
        List<String> lines = new ArrayList<>();
        StringBuilder line = new StringBuilder();
        int size = 0;
        while (true) {
            int next = read();
            if (next < 0) {
                if (size == 0) {
                    return Optional.empty();
                }
                throw new EOFException("the connection ended within a message's head");
            }
            if (++size > MAX_HEAD) {
                throw new IOException("a message's head is larger than 32 KiB");
            }
            if (next != '\n') {
                line.append((char) next);
                continue;
            }
            String text = line.toString().stripTrailing();
            line.setLength(0);
            if (!text.isEmpty()) {
                lines.add(text);
            } else if (!lines.isEmpty()) {
                return Optional.of(parsed(lines));
            }
        }
    }

    private static Head parsed(List<String> lines) throws IOException {
        Map<String, String> headers = new TreeMap<>();
        for (String line : lines.subList(1, lines.size())) {
            int colon = line.indexOf(':');
            if (colon <= 0) {
                throw new IOException("a header without a name");
            }
            headers.put(
                    line.substring(0, colon).toLowerCase(Locale.ROOT),
                    line.substring(colon + 1).strip());
        }
        return new Head(List.of(lines.getFirst().split(" ", 3)), headers);
    }

    private int read() throws IOException {
        return in.hasRemaining() || fill() ? in.get() & 0xff : -1;
    }

    private boolean fill() throws IOException {
        in.clear();
        int count = channel.read(in);
        in.flip();
        pulse.beat();
        return count > 0;
    }

    /** The body's next piece; its owner uses it up before the next call. */
    public ByteBuffer body(long left) throws IOException {
        if (!in.hasRemaining() && !fill()) {
            throw new EOFException("the connection ended within a message's body");
        }
        int count = (int) Math.min(left, in.remaining());
        ByteBuffer piece = in.slice(in.position(), count);
        in.position(in.position() + count);
        return piece;
    }

    public String text(long length) throws IOException {
        if (length > MAX_HEAD * 128L) {
            throw new IOException("a body of " + length + " bytes is too large here");
        }
        ByteBuffer all = ByteBuffer.allocate((int) length);
        while (all.hasRemaining()) {
            all.put(body(all.remaining()));
        }
        return new String(all.array(), StandardCharsets.UTF_8);
    }

    public void write(String text) throws IOException {
        write(ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8)));
    }

    public void write(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            channel.write(bytes);
            pulse.beat();
        }
    }
}
